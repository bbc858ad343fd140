// src/http/http1_connection/upgraded_stream.hpp: a former HTTP connection as the stream of another protocol.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/io_error.hpp>

#include "message_input.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>

namespace gyre::http {

/// The peer has left, or takes nothing any more. That is routine for a server.
struct connection_lost : io_error {
  using io_error::io_error;
};

/// Begins with the bytes received after the head. Lifetime: the connection must outlive it.
class upgraded_stream {
 public:
  explicit upgraded_stream(message_input& input) noexcept : input_(&input) {}

  task<std::size_t> read_some(std::span<std::byte> buffer) {
    if (input_->available().empty()) {
      const std::error_code outcome = co_await input_->receive_within(std::chrono::nanoseconds::max());
      if (outcome == make_error_code(stream_errc::end_of_stream)) co_return std::size_t{0};
      check("read_some", outcome);
    }
    const std::string_view piece = input_->available().substr(0, buffer.size());
    if (!piece.empty()) std::memcpy(buffer.data(), piece.data(), piece.size());
    input_->consume(piece.size());
    co_return piece.size();
  }
  task<> write_all(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::error_code outcome = co_await input_->transport().write(text, {}, std::chrono::nanoseconds::max());
    check("write_all", outcome);
  }
  task<> shutdown_write() { co_await input_->transport().shutdown_write(); }

 private:
  static void check(const char* operation, std::error_code outcome) {
    if (outcome) throw connection_lost(outcome, operation, "the connection");
  }
  message_input* input_;
};

}  // namespace gyre::http
