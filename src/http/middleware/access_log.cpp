// src/http/middleware/access_log.cpp: gathers lines, writes them once per turn, drops them when the output is stuck.
#include <gyre/http/access_log.hpp>
#include <gyre/io/line_output.hpp>
#include <gyre/io/wall_clock.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/owner_loop.hpp>

#include "log_line.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <stdexcept>

namespace gyre::http {

constexpr io::monotonic_time retry_after = 50'000'000;

const access_log_options& checked(const access_log_options& options) {
  if (options.buffer == 0) throw std::invalid_argument("access_log: buffer is 0: every line would be lost");
  if (options.max_value_size == 0)
    throw std::invalid_argument("access_log: max_value_size is 0: no target and no field would be shown");
  return options;
}

// Timers fire at the beginning of a turn, so a timer that is due at once gathers all lines of the current turn.
struct access_log::state : timer {
  state(int descriptor, const access_log_options& options)
      : output(descriptor, "the access log"), lines(options.format, options.max_value_size), max_size(options.buffer) {
    fire = [](timer& t) noexcept { static_cast<state&>(t).write(); };
  }

  void add(const exchange& what) noexcept {
    if (unsaid > 0) say_what_was_lost();
    if (!append([&] { lines.append(buffer, what, io::wall_clock()); })) lose(1);
  }

  // Appends a whole line, or nothing. Returns false when there is no room for it.
  template <class F>
  bool append(F append_line) noexcept {
    const std::size_t before = buffer.size();
    try {
      append_line();
      if (buffer.size() - sent <= max_size) return true;
    } catch (const std::bad_alloc&) {  // as if it were full
    }
    buffer.resize(before);
    return false;
  }

  void lose(std::uint64_t count) noexcept {
    lost += count;
    unsaid += count;
  }

  void say_what_was_lost() noexcept {
    if (append([&] { lines.append_lost(buffer, unsaid, io::wall_clock()); })) unsaid = 0;
  }

  void write() noexcept {
    while (sent < buffer.size()) {
      const std::ptrdiff_t n = output.write(std::string_view(buffer).substr(sent));
      if (n == -EAGAIN) {
        buffer.erase(0, sent);
        sent = 0;
        return arm_in(retry_after);
      }
      if (n < 0) return drop_all();
      sent += static_cast<std::size_t>(n);
      torn = n > 0 ? buffer[sent - 1] != '\n' : torn;
    }
    clear();
    if (unsaid > 0) say_what_was_lost();
    if (!buffer.empty()) arm_in(0);
  }

  // The output is broken: drops the buffered lines. The next lines will be tried again.
  void drop_all() noexcept {
    const auto rest = buffer.begin() + static_cast<std::ptrdiff_t>(sent);
    lose(static_cast<std::uint64_t>(std::count(rest, buffer.end(), '\n')));
    clear();
    if (torn) buffer += '\n';  // within any capacity
  }

  void clear() noexcept {
    constexpr std::size_t kept = std::size_t{64} << 10U;
    buffer.clear();
    sent = 0;
    if (buffer.capacity() > kept) std::string().swap(buffer);
  }

  void arm_in(io::monotonic_time duration) noexcept {
    event_loop* const here = event_loop::current_or_null();
    if (here == nullptr || armed()) return;
    loop = here;
    deadline = here->now() + duration;
    here->timers().arm(*this);
  }

  line_output output;
  line_writer lines;
  std::size_t max_size;
  std::string buffer;
  std::size_t sent = 0;      // bytes of the buffer that have been written
  bool torn = false;         // the last byte written did not end a line
  std::uint64_t lost = 0;    // lines dropped so far
  std::uint64_t unsaid = 0;  // of these, the lines not reported yet
  event_loop* loop = nullptr;
  owner_loop_of<"an access_log (with several loops, give each its own by loop_local)"> owner;
};

access_log::access_log(int descriptor, const access_log_options& options)
    : state_(new state(descriptor, checked(options))) {}

access_log::~access_log() {
  if (state_->armed() && event_loop::current_or_null() == state_->loop) state_->loop->timers().disarm(*state_);
  state_->link = nullptr;  // the loop may no longer exist
  state_->loop = nullptr;
  state_->write();
  if (state_->armed()) event_loop::current().timers().disarm(*state_);
  delete state_;
}

void access_log::answered(const exchange& what) noexcept {
  state_->owner.expect_own("answered");
  state_->add(what);
  state_->arm_in(0);
}

std::uint64_t access_log::lost() const noexcept { return state_->lost; }

}  // namespace gyre::http
