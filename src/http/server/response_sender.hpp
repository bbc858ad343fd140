// src/http/server/response_sender.hpp: turns a response into bytes of a connection.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/body_writer.hpp>

#include "http1/response_head.hpp"
#include "message_output.hpp"
#include "response_state.hpp"

#include <cstdint>
#include <string_view>

namespace gyre::http {

/// How the request and the connection determine the response's framing.
struct sending {
  const server_lines& lines;
  bool head_only = false;  // the answer to HEAD
  bool close = false;      // nothing follows this response
  bool http_1_0 = false;   // the client does not know chunks, and needs keep-alive announced
  bool connect = false;    // the answer to CONNECT: success has no body
};

class response_sender {
 public:
  response_sender(message_output& output, response_state& r, const sending& how) noexcept
      : output_(output), response_(r), how_(how) {}

  /// Appends the head, with the body if that is small and in memory. Sets the result of `closes`. Returns false when
  /// `send` has to be called for the rest.
  [[nodiscard]] bool begin();
  /// True if the body ends with the connection, or if the client was told that nothing follows.
  [[nodiscard]] bool closes() const noexcept { return how_.close; }
  /// Sends the body from any source. Returns false when it was cut off. Errors: exceptions of the
  /// body's producer; io_error of a file.
  task<bool> send();

  [[nodiscard]] std::uint64_t body_bytes() const noexcept { return body_bytes_; }
  [[nodiscard]] int status() const noexcept { return response_.status; }
  /// True while nothing of the response has been sent: another one may take its place.
  [[nodiscard]] bool holds_head() const noexcept { return holds_head_; }

 private:
  class body_counter;
  class writer_counter;
  [[nodiscard]] bool is_in_memory() const noexcept {
    return response_.source == body_origin::value || response_.source == body_origin::borrowed;
  }
  task<bool> produce();

  message_output& output_;
  response_state& response_;
  sending how_;
  bool has_body_ = false;
  bool has_all_ = false;  // the output has the whole body
  bool chunked_ = false;
  bool holds_head_ = false;  // it is in response_state::value, until the producer writes
  std::uint64_t body_bytes_ = 0;
};

}  // namespace gyre::http
