// src/stream/stream_reader.cpp: a read buffer, and the search for ends in it.
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/scope_exit.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/stream/stream_reader.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace gyre {
namespace {

[[noreturn]] void throw_too_long(const char* operation, std::size_t limit) {
  throw io_error(std::make_error_code(std::errc::message_size), operation,
                 "more than the limit of " + std::to_string(limit) + " bytes");
}
[[noreturn]] void throw_ended(const char* operation, std::size_t there) {
  throw incomplete_transfer(stream_errc::end_of_stream, operation, "stream", there);
}

[[noreturn]] void stop_for_second_task() noexcept {
  misuse("two tasks read from one stream_reader at the same time: let one task read, and hand on what it has read");
}

}  // namespace

void stream_reader::expect_idle() const noexcept {
  if (room_ > 0 || yields_)
    misuse("a stream_reader was destroyed or moved while a task reads from it: cancel and await that task first");
}

stream_reader::stream_reader(stream_reader&& other) noexcept
    : stream_((other.expect_idle(), std::move(other.stream_))),
      buffer_(std::exchange(other.buffer_, {})),
      begin_(std::exchange(other.begin_, 0)),
      ended_(other.ended_) {}

stream_reader& stream_reader::operator=(stream_reader&& other) noexcept {
  expect_idle();
  stream_reader moved(std::move(other));
  std::swap(stream_, moved.stream_);
  std::swap(buffer_, moved.buffer_);
  std::swap(begin_, moved.begin_);
  std::swap(ended_, moved.ended_);
  return *this;
}

// If a second task takes bytes, the first one lacks them and waits for more.
std::string stream_reader::take(std::size_t count) {
  if (room_ > 0) stop_for_second_task();
  std::string taken = buffer_.substr(begin_, count);
  begin_ += taken.size();
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  }
  return taken;
}

// Buffered bytes need no wait, so without a budget a burst of lines would keep all other tasks from running. A read
// costs as much as several operations: the tasks that handle a line use some for each, and must keep up.
bool stream_reader::budget_is_used_up(const char* operation) const noexcept {
  owner_.check(operation);
  if (yields_) stop_for_second_task();
  if (buffered() == 0 && !ended_) return false;
  constexpr int cost = 4;
  event_loop& loop = event_loop::current();
  for (int i = 0; i < cost; ++i)
    if (!loop.may_continue_inline()) return true;
  return false;
}

task<> stream_reader::let_others_run() {
  yields_ = true;
  const scope_exit resumed([this]() noexcept { yields_ = false; });
  co_await yield();
}

// Reads once more from the stream, straight into the buffer, which keeps its memory.
// Returns false at the end of the stream.
task<bool> stream_reader::fill(const char* operation) {
  constexpr std::size_t chunk = 4096;
  if (!stream_) misuse_of_closed(operation, "a stream_reader");
  if (room_ > 0) stop_for_second_task();  // the kernel writes into the buffer, which must not move
  if (ended_) co_return false;
  if (begin_ > 0) buffer_.erase(0, std::exchange(begin_, 0));
  const std::size_t before = buffer_.size();
  std::size_t used = before;
  const scope_exit cut([&]() noexcept {
    room_ = 0;
    buffer_.resize(used);
  });
  buffer_.resize(before + chunk);
  room_ = chunk;
  const std::span<char> tail = std::span(buffer_).subspan(before);
  const std::size_t count = co_await stream_->read_some(std::as_writable_bytes(tail));
  used += count;
  ended_ = count == 0;
  co_return !ended_;
}

task<std::string> stream_reader::read(std::size_t max) {
  if (budget_is_used_up("read")) co_await let_others_run();
  if (buffered() == 0 && max > 0) co_await fill("read");
  co_return take(max);
}

task<std::string> stream_reader::read_exactly(std::size_t count) {
  if (budget_is_used_up("read_exactly")) co_await let_others_run();
  while (buffered() < count) {
    const bool more = co_await fill("read_exactly");
    if (!more) throw_ended("read_exactly", buffered());
  }
  co_return take(count);
}

task<std::string> stream_reader::read_until(std::string separator, std::size_t limit) {
  std::vector<std::string> only;
  only.push_back(std::move(separator));
  co_return co_await read_until_any(std::move(only), limit);
}

task<std::string> stream_reader::read_until_any(std::vector<std::string> separators, std::size_t limit) {
  if (separators.empty())
    throw std::system_error(std::make_error_code(std::errc::invalid_argument), "read_until_any: no separators");
  std::size_t max_size = 0;
  for (const std::string& each : separators) {
    if (each.empty()) throw std::system_error(std::make_error_code(std::errc::invalid_argument), "read_until: empty");
    max_size = std::max(max_size, each.size());
  }
  if (budget_is_used_up("read_until")) co_await let_others_run();
  for (std::size_t searched = 0;;) {
    const std::string_view text = rest();
    std::size_t end = std::string_view::npos;
    for (const std::string& each : separators)
      if (const std::size_t at = text.find(each, searched); at != std::string_view::npos)
        end = std::min(end, at + each.size());
    if (end <= limit) co_return take(end);
    if (end != std::string_view::npos || text.size() >= limit) throw_too_long("read_until", limit);
    searched = text.size() - std::min(text.size(), max_size - 1);
    const bool more = co_await fill("read_until");
    if (!more) throw_ended("read_until", buffered());
  }
}

// The terminator does not count towards the limit. Neither does a '\r' that may be the first half of one.
task<std::optional<std::string>> stream_reader::read_line(std::size_t limit) {
  if (budget_is_used_up("read_line")) co_await let_others_run();
  for (std::size_t searched = 0;;) {
    const std::string_view text = rest();
    const std::size_t found = text.find('\n', searched);
    const std::string_view line = text.substr(0, found);
    const std::size_t size = line.size() - (line.ends_with('\r') ? 1 : 0);
    if (size > limit) throw_too_long("read_line", limit);
    if (found != std::string_view::npos) {
      std::string taken = take(found + 1);
      taken.resize(size);
      co_return taken;
    }
    searched = text.size();
    const bool more = co_await fill("read_line");
    if (more) continue;
    if (buffered() == 0) co_return std::nullopt;
    if (buffered() > limit) throw_too_long("read_line", limit);
    co_return take(buffered());
  }
}

task<bool> stream_reader::next_or_stop() {
  if (budget_is_used_up("next_or_stop")) co_await let_others_run();
  if (!stream_) misuse_of_closed("next_or_stop", "a stream_reader");
  if (room_ > 0) stop_for_second_task();
  if (buffered() > 0) co_return true;
  if (ended_) co_return false;
  const bool more = co_await stream_->next_or_stop();
  ended_ = !more && stream_->has_ended();
  co_return more;
}

task<std::string> stream_reader::read_all(std::size_t limit) {
  if (budget_is_used_up("read_all")) co_await let_others_run();
  for (bool more = true; more;) {
    if (buffered() > limit) throw_too_long("read_all", limit);
    more = co_await fill("read_all");
  }
  co_return take(buffered());
}

}  // namespace gyre
