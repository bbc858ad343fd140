// src/client/channel.hpp: the interface of what carries a request to a server, and its response back.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/parse_error.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <system_error>

#include "write_outcome.hpp"

namespace gyre {
class socket_bulk;
struct socket_state;
}  // namespace gyre

namespace gyre::http {

/// One request and its response. http1_channel writes and reads the text of HTTP/1.1 on a connection; a stream of
/// HTTP/2 would be another implementation. It knows no redirects, retries, cookies or time limits, which belong to the
/// exchange; a time limit interrupts it.
///
/// Errors of the connection are values. Cancel, of all functions that are awaited: what is sent is cut off, and nothing
/// of what is received is lost. Thread: that of the client. One task sends while another one may receive.
class channel {
 public:
  // The request. Its head has been set before.

  /// Sends the head and a small body in one piece.
  virtual task<write_outcome> send_whole(std::string_view body) = 0;
  virtual task<write_outcome> send_head() = 0;
  /// Sends a piece of the body, which is not empty.
  virtual task<write_outcome> send_piece(std::string_view piece) = 0;
  /// Ends a body of unknown length. Errors: std::invalid_argument for a field that is no trailer.
  virtual task<write_outcome> send_end(std::span<const field> trailers) = 0;
  /// The socket to which send_bulk() moves pieces of the body, or null when they have to be sent otherwise.
  [[nodiscard]] virtual socket_state* bulk_target() noexcept = 0;
  virtual task<write_outcome> send_bulk(socket_bulk& piece) = 0;

  // The response: interim heads, the final head, the body.

  /// Waits for bytes of the response, when there are not enough. Returns stream_errc::end_of_stream when none follow.
  virtual task<std::error_code> receive_more() = 0;
  /// Looks whether the next head has arrived. When it is malformed, head_error() tells why.
  [[nodiscard]] virtual parse_state find_head() = 0;
  [[nodiscard]] virtual parse_error head_error() const noexcept = 0;
  [[nodiscard]] virtual int status() const noexcept = 0;
  [[nodiscard]] virtual std::string_view reason() const noexcept = 0;
  [[nodiscard]] virtual std::span<const field> fields() const noexcept = 0;
  /// The head was an interim one; another follows.
  virtual void drop_head() = 0;
  /// The head is the final one. Returns the reason why the response cannot be understood, or none.
  [[nodiscard]] virtual parse_error begin_body(std::string_view request_method) = 0;
  /// Removes and returns the next bytes of the body that have arrived. Lifetime: until receive_more().
  [[nodiscard]] virtual std::string_view take(std::size_t max) = 0;
  /// The reason why the body is malformed, or none.
  [[nodiscard]] virtual parse_error body_error() const noexcept = 0;
  /// True when the body has been taken to its end.
  [[nodiscard]] virtual bool at_end() const noexcept = 0;

  // Time limits.

  /// Ends a transfer that waits.
  virtual void interrupt() noexcept = 0;
  /// True if the server has taken a good part of a piece of bulk since this was last called.
  [[nodiscard]] virtual bool has_progressed() noexcept = 0;

 protected:
  ~channel() = default;
};

}  // namespace gyre::http
