// src/http/http1_connection/message_output.cpp: gathers output, and writes it in pieces with a time limit each.
#include <gyre/io/file_bytes.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/net/bulk.hpp>

#include "message_output.hpp"

#include <algorithm>
#include <utility>

namespace gyre::http {

namespace {
constexpr time_point next_turn;  // in the past, so a sleep until then ends when the loop next looks at the clock
constexpr std::uint64_t share = std::uint64_t{2} << 20U;
}  // namespace

message_output::~message_output() { detach(); }

void message_output::detach() noexcept {
  if (scheduled_ != nullptr) std::exchange(scheduled_, nullptr)->output = nullptr;
  transport_ = nullptr;
}

void message_output::attach(transport& to) noexcept {
  constexpr std::size_t kept = std::size_t{64} << 10U;
  transport_ = &to;
  buffer_.clear();
  if (buffer_.capacity() > kept) std::string().swap(buffer_);
  error_ = {};
  file_failed_ = false;
  sent_ = 0;
}

task<std::error_code> message_output::flush() {
  if (in_background_ > 0) co_await background_ended();
  if (failed() || buffer_.empty()) co_return error_;
  begin_transfer();
  const std::error_code outcome = co_await transport_->write(buffer_, {}, limit_);
  end_transfer(outcome, buffer_.size());
  buffer_.clear();
  co_return outcome;
}

// A client that takes each piece at once must not monopolize the loop, which polls the kernel once per turn.
inline bool message_output::had_its_share(std::uint64_t bytes) noexcept {
  since_others_ran_ += bytes;
  if (since_others_ran_ < share) return false;
  since_others_ran_ = 0;
  return true;
}

task<std::error_code> message_output::write(std::string_view bytes) {
  if (failed()) co_return error_;
  if (append(bytes)) {
    if (buffer_.size() >= max_gathered) (void)co_await flush();
    co_return error_;
  }
  if (in_background_ > 0) co_await background_ended();
  while (!failed() && (!bytes.empty() || !buffer_.empty())) {
    const std::string_view next = bytes.substr(0, piece);
    begin_transfer();
    const std::error_code outcome = co_await transport_->write(buffer_, next, limit_);
    end_transfer(outcome, buffer_.size() + next.size());
    buffer_.clear();
    bytes.remove_prefix(next.size());
    if (had_its_share(piece) && !bytes.empty()) co_await sleep_until(next_turn);
  }
  co_return error_;
}

// A small file in the page cache is cheaper to copy into the buffer than to send with its own system call.
bool message_output::append_file(int file, std::uint64_t offset, std::uint64_t count) {
  if (count > max_gathered || failed()) return false;
  const std::size_t size_before = buffer_.size();
  const auto size = static_cast<std::size_t>(count);
  bool whole = false;
  buffer_.resize_and_overwrite(size_before + size, [&](char* memory, std::size_t) noexcept {
    whole = io::read_cached(file, memory + size_before, size, offset) == static_cast<std::ptrdiff_t>(size);
    return whole ? size_before + size : size_before;
  });
  return whole;
}

// The announced length cannot be kept, so nothing may follow. The error should name the file, but only a descriptor is
// known here. A null `reason` means that the file ended too early.
void message_output::fail_file(int file, std::error_code reason) {
  file_failed_ = true;
  std::string path = io::path_of_file(file);
  if (path.empty()) path = "a file";
  if (!reason) {
    path += ", which became shorter";
    reason = std::make_error_code(std::errc::io_error);
  }
  error_ = reason;
  throw io_error(reason, "send_file", path);
}

task<std::error_code> message_output::send_file(int file, std::uint64_t offset, std::uint64_t count) {
  if (append_file(file, offset, count)) {
    if (!settle(upcoming::more_output)) (void)co_await flush();
    co_return error_;
  }
  // Sends the head in one segment with the beginning of the file.
  send_now(count > 0 ? write_hint::more_follows : write_hint::none);
  (void)co_await flush();
  while (!failed() && count > 0) {
    const std::size_t next = static_cast<std::size_t>(std::min(count, share));
    begin_transfer();
    const send_file_result moved = co_await transport_->send_file(file, offset, next, limit_);
    end_transfer(moved.outcome, moved.sent);
    if (moved.file_error) fail_file(file, moved.file_error);
    if (!moved.outcome && moved.sent < next) fail_file(file, {});
    offset += moved.sent;
    count -= moved.sent;
    if (had_its_share(moved.sent) && count > 0) co_await sleep_until(next_turn);
  }
  co_return error_;
}

task<std::error_code> message_output::write_bulk(socket_bulk& bulk) {
  send_now(write_hint::more_follows);
  (void)co_await flush();
  if (failed()) co_return error_;
  const std::size_t size = bulk.size();
  begin_transfer();
  const std::error_code outcome = co_await transport_->write_bulk(bulk, limit_);
  end_transfer(outcome, size);
  (void)had_its_share(size);  // the next piece comes in another turn of the loop
  co_return outcome;
}

void message_output::send_now(write_hint hint) noexcept {
  if (failed() || buffer_.empty() || in_background_ > 0) return;
  const std::ptrdiff_t sent = transport_->write_now(buffer_, hint);
  if (sent < 0) {  // the next write reports it; data appended until then is dropped
    error_ = std::error_code(static_cast<int>(-sent), std::generic_category());
    buffer_.clear();
    return;
  }
  sent_ += static_cast<std::size_t>(sent);
  if (static_cast<std::size_t>(sent) == buffer_.size()) return buffer_.clear();
  buffer_.erase(0, static_cast<std::size_t>(sent));
}

bool message_output::send_when_waiting() {
  if (scheduled_ == nullptr) {
    scheduled_ = new flusher;
    scheduled_->output = this;
    scheduled_->complete = &flush_now;
    event_loop::current().schedule(*scheduled_);
  }
  return transport_->writes_now() || background_ != nullptr;
}

void message_output::flush_now(io::completion& c) noexcept {
  flusher* const self = &static_cast<flusher&>(c);
  if (message_output* const output = self->output; output != nullptr) {
    output->scheduled_ = nullptr;
    output->send_now(write_hint::none);
    output->begin_background();
  }
  delete self;
}

void message_output::begin_background() noexcept {
  if (background_ == nullptr || buffer_.empty() || failed() || in_background_ > 0) return;
  try {
    background_->start(send_in_background(), {.name = "sending a part of a response"}, std::source_location::current())
        .release();
  } catch (...) {  // no memory: the next write or flush sends the bytes
  }
}

// Takes the buffer, because more may be appended meanwhile. Another call may have sent everything before this began.
task<> message_output::send_in_background() {
  while (!buffer_.empty() && !failed() && in_background_ == 0) {
    struct sending {
      message_output& output;
      std::string bytes = std::exchange(output.buffer_, {});
      std::error_code outcome = std::make_error_code(std::errc::operation_canceled);
      explicit sending(message_output& from) : output(from) { output.in_background_ = bytes.size(); }
      sending(const sending&) = delete;
      sending& operator=(const sending&) = delete;
      ~sending() {
        output.end_transfer(outcome, bytes.size());
        output.in_background_ = 0;
        output.background_ended_.set();
      }
    } here(*this);
    background_ended_.clear();
    here.outcome = co_await transport_->write(here.bytes, {}, limit_);
  }
}

task<> message_output::background_ended() {
  while (in_background_ > 0) co_await background_ended_.wait();
}

}  // namespace gyre::http
