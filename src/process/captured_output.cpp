// src/process/captured_output.cpp: reads a pipe into a string.
#include "captured_output.hpp"

#include <gyre/io/io_error.hpp>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>

namespace gyre {
namespace {

/// Appends room for one read to a text. Unused room is cut off in the end, also when the read is cancelled or fails.
class room_behind {
 public:
  explicit room_behind(std::string& text) : text_(text), used_(text.size()) { text.resize(used_ + piece); }
  room_behind& operator=(room_behind&&) = delete;
  ~room_behind() { text_.resize(used_); }

  [[nodiscard]] std::span<char> span() const noexcept { return {text_.data() + used_, piece}; }
  void use(std::size_t size) noexcept { used_ += size; }

 private:
  static constexpr std::size_t piece = 65536;
  std::string& text_;
  std::size_t used_;
};

}  // namespace

task<> captured_output::listen() {
  while (!at_end_) {
    {
      room_behind room(text);
      const std::size_t size = co_await from_.read_some(room.span());
      room.use(size);
      at_end_ = size == 0;
    }
    stop_beyond_limit();
  }
}

void captured_output::take_what_is_there() {
  if (at_end_) return;
  int waiting = 0;
  (void)::ioctl(from_.native_descriptor(), FIONREAD, &waiting);
  const std::size_t enough = text.size() + static_cast<std::size_t>(std::max(waiting, 0));
  while (!at_end_) {
    pollfd ready{.fd = from_.native_descriptor(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 0) <= 0) break;
    if (text.size() >= enough && (ready.revents & POLLHUP) == 0) break;  // another process may write for ever
    room_behind room(text);
    const ssize_t size = ::read(ready.fd, room.span().data(), room.span().size());
    if (size < 0) break;
    room.use(static_cast<std::size_t>(size));
    at_end_ = size == 0;
  }
  stop_beyond_limit();
}

void captured_output::stop_beyond_limit() const {
  if (text.size() > limit_)
    throw io_error(std::make_error_code(std::errc::file_too_large), "communicate", from_.path());
}

}  // namespace gyre
