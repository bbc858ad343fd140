// src/http/message_output.cpp: gathering, and writing in pieces that have a time limit each.
#include <gyre/loop/event_loop.hpp>

#include "message_output.hpp"

#include <algorithm>
#include <utility>

namespace gyre::http {

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
  state_ = transfer::done;
  sent_ = 0;
}

task<transfer> message_output::flush() {
  if (failed() || buffer_.empty()) co_return state_;
  begin_transfer();
  const transfer outcome = co_await transport_->write(buffer_, {}, limit_);
  end_transfer(outcome, buffer_.size());
  buffer_.clear();
  co_return outcome;
}

task<transfer> message_output::write(std::string_view bytes) {
  if (bytes.size() <= gathered_at_most && buffer_.size() + bytes.size() <= 2 * gathered_at_most) {
    buffer_.append(bytes);
    if (wants_flush()) co_return co_await flush();
    co_return state_;
  }
  while (!failed() && (!bytes.empty() || !buffer_.empty())) {
    const std::string_view next = bytes.substr(0, piece);
    begin_transfer();
    const transfer outcome = co_await transport_->write(buffer_, next, limit_);
    end_transfer(outcome, buffer_.size() + next.size());
    buffer_.clear();
    bytes.remove_prefix(next.size());
  }
  co_return state_;
}

task<transfer> message_output::send_file(int file, std::uint64_t offset, std::uint64_t count) {
  (void)co_await flush();
  while (!failed() && count > 0) {
    std::size_t moved = 0;
    const std::size_t next = static_cast<std::size_t>(std::min<std::uint64_t>(count, 4 * piece));
    begin_transfer();
    const transfer outcome = co_await transport_->send_file(file, offset, next, limit_, moved);
    end_transfer(outcome, moved);
    offset += moved;
    count -= moved;
    if (moved < next) begin_transfer();  // the file has become shorter: this does not end
  }
  co_return state_;
}

void message_output::flush_when_waiting() {
  if (scheduled_ != nullptr || !flushes_when_waiting()) return;
  scheduled_ = new flusher;
  scheduled_->output = this;
  scheduled_->complete = &flush_now;
  event_loop::current().schedule(*scheduled_);
}

void message_output::flush_now(io::completion& c) noexcept {
  flusher* const self = &static_cast<flusher&>(c);
  if (message_output* const output = self->output; output != nullptr) {
    output->scheduled_ = nullptr;
    if (!output->failed() && !output->buffer_.empty()) {
      const std::size_t sent = output->transport_->write_now(output->buffer_);
      output->sent_ += sent;
      output->buffer_.erase(0, sent);
    }
  }
  delete self;
}

}  // namespace gyre::http
