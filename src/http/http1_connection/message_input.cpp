// src/http/http1_connection/message_input.cpp: waits for bodies, with a time limit.
#include <gyre/loop/deadline.hpp>
#include <gyre/net/bulk.hpp>

#include "message_input.hpp"

#include <algorithm>
#include <utility>

namespace gyre::http {

/// A wait for bytes of a body.
class message_input::waiting {
 public:
  explicit waiting(message_input& input) noexcept : input_(input) { input.receives_ = true; }
  waiting& operator=(waiting&&) = delete;
  ~waiting() { input_.receives_ = false; }
  [[nodiscard]] std::chrono::nanoseconds limit() const noexcept {
    return std::max(input_.body_limit_ - input_.waited_, {});
  }
  void ended_with(std::size_t bytes) noexcept {
    input_.waited_ += now() - began_;
    input_.arrived_ += bytes;
    if (input_.arrived_ < progress) return;
    input_.waited_ = {};
    input_.arrived_ = 0;
    input_.late_ = false;
  }

 private:
  message_input& input_;
  time_point began_ = now();
};

task<std::error_code> message_input::receive() {
  lease_.release();
  if (waited_ >= body_limit_ && std::exchange(late_, true)) co_return time_limit_passed();
  waiting here(*this);
  const std::error_code outcome = co_await transport_->receive(lease_, here.limit());
  here.ended_with(lease_.size());
  co_return outcome;
}

task<std::error_code> message_input::receive_bulk(socket_bulk& piece, std::uint64_t max_count) {
  lease_.release();
  if (waited_ >= body_limit_ && std::exchange(late_, true)) co_return time_limit_passed();
  waiting here(*this);
  const std::error_code outcome = co_await transport_->receive_bulk(piece, max_count, here.limit());
  here.ended_with(piece.size());
  co_return outcome;
}

}  // namespace gyre::http
