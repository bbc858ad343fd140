// src/http/server/upgraded_stream.hpp: a former HTTP connection as the stream of another protocol.
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

/// Begins with the bytes received after the head. Lifetime: the connection must outlive it.
class upgraded_stream {
 public:
  explicit upgraded_stream(message_input& input) noexcept : input_(&input) {}

  task<std::size_t> read_some(std::span<std::byte> buffer) {
    if (input_->available().empty()) {
      const transfer outcome = co_await input_->receive_within(std::chrono::nanoseconds::max());
      if (outcome == transfer::ended) co_return std::size_t{0};
      if (outcome != transfer::done) throw_failure("read_some");
    }
    const std::string_view piece = input_->available().substr(0, buffer.size());
    if (!piece.empty()) std::memcpy(buffer.data(), piece.data(), piece.size());
    input_->consume(piece.size());
    co_return piece.size();
  }
  task<> write_all(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const transfer outcome = co_await input_->transport().write(text, {}, std::chrono::nanoseconds::max());
    if (outcome != transfer::done) throw_failure("write_all");
  }
  task<> shutdown_write() { co_await input_->transport().shutdown_write(); }

 private:
  [[noreturn]] static void throw_failure(const char* operation) {
    throw io_error(std::make_error_code(std::errc::connection_reset), operation, "the connection");
  }
  message_input* input_;
};

}  // namespace gyre::http
