// src/client/http1_channel.hpp: a request and its response as the text of HTTP/1.1 on one connection. RFC 9112.
#pragma once

#include <gyre/stream/any_stream.hpp>

#include "channel.hpp"
#include "client_connection.hpp"
#include "response_input.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gyre::http {

/// Keeps its memory, and the response, when its connection is gone: connections are lent by the pool, and go back to it
/// when the body has arrived, however long the program keeps the response.
class http1_channel final : public channel {
 public:
  explicit http1_channel(const head_limits& limits) : input_(limits) {}

  // The connection.
  void open(connection_owner connection) noexcept { connection_ = std::move(connection); }
  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(connection_); }
  /// Closes the connection.
  void close() noexcept { connection_.reset(); }
  /// The connection, for the pool, which may use it again if is_reusable().
  [[nodiscard]] connection_owner take_connection() noexcept { return std::move(connection_); }
  [[nodiscard]] bool on_reused_connection() const noexcept { return connection_->reused; }
  /// The response was whole, and the server keeps the connection. The request must be whole, too.
  [[nodiscard]] bool is_reusable() const noexcept {
    return input_.framing().keep_alive && !input_.has_more() && status() != 408;
  }

  /// Prepares for another request and its response. Returns the text of the head, to be filled.
  [[nodiscard]] std::string& begin(bool in_chunks) noexcept {
    in_chunks_ = in_chunks;
    input_.begin();
    return head_;
  }
  /// Takes a whole response that did not come from a server, and is kept by the caller.
  void set_response(std::string_view text) noexcept {
    input_.begin();
    input_.add(text);
  }
  /// Gives memory back, except for buffers of usual size.
  void end() noexcept { input_.end(); }

  GYRE_CORO_WRAPPER task<write_outcome> send_whole(std::string_view body) override {
    return connection_->write(head_, body);
  }
  GYRE_CORO_WRAPPER task<write_outcome> send_head() override { return connection_->write(head_); }
  GYRE_CORO_WRAPPER task<write_outcome> send_piece(std::string_view piece) override {
    return in_chunks_ ? send_chunk(piece) : connection_->write(piece);
  }
  task<write_outcome> send_end(std::span<const field> trailers) override;
  [[nodiscard]] socket_state* bulk_target() noexcept override {
    return !in_chunks_ && connection_->lends() ? &connection_->socket().socket() : nullptr;
  }
  GYRE_CORO_WRAPPER task<write_outcome> send_bulk(socket_bulk& piece) override { return connection_->write(piece); }

  task<std::error_code> receive_more() override;
  [[nodiscard]] parse_state find_head() override { return input_.parse_head(); }
  [[nodiscard]] parse_error head_error() const noexcept override { return input_.head().error(); }
  [[nodiscard]] int status() const noexcept override { return input_.head().status(); }
  [[nodiscard]] std::string_view reason() const noexcept override { return input_.head().reason(); }
  [[nodiscard]] std::span<const field> fields() const noexcept override { return input_.head().fields(); }
  void drop_head() override { input_.drop_head(); }
  [[nodiscard]] parse_error begin_body(std::string_view request_method) override {
    return input_.begin_body(request_method);
  }
  [[nodiscard]] std::string_view take(std::size_t max) override { return input_.take(max); }
  [[nodiscard]] parse_error body_error() const noexcept override { return input_.error(); }
  [[nodiscard]] bool at_end() const noexcept override { return input_.at_end(); }

  // More about the response.
  [[nodiscard]] bool received_any() const noexcept { return input_.received_any(); }
  /// All that is left of the body has arrived already.
  [[nodiscard]] bool has_whole_body() const noexcept { return input_.has_whole_body(); }
  [[nodiscard]] std::uint64_t received() const noexcept { return input_.received(); }
  /// Nothing when only the end of the body will show its length.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept { return input_.length(); }
  [[nodiscard]] std::vector<field> trailers() const { return input_.trailers(); }
  /// The reason why the part of the body that has arrived is malformed, or none. Takes nothing.
  [[nodiscard]] parse_error look_ahead() const { return input_.look_ahead(); }
  /// The stream has ended. Returns whether that ends the body.
  [[nodiscard]] bool end_of_stream() noexcept { return input_.end_of_stream(); }
  /// Takes bytes that have arrived, perhaps only in the kernel, without waiting. Returns whether there were any.
  [[nodiscard]] bool receive_arrived();
  [[nodiscard]] const http::framing& framing() const noexcept { return input_.framing(); }
  /// The connection, and the bytes after the head, after a switch to another protocol. RFC 9110 §7.8.
  [[nodiscard]] any_stream take_stream();

  // Bulk of the response's body.

  /// The socket from which the kernel may move further bytes of the body as they are, or null.
  [[nodiscard]] socket_state* bulk_source() noexcept {
    return connection_ && connection_->lends() && input_.is_at_plain_bytes() ? &connection_->socket().socket()
                                                                             : nullptr;
  }
  /// Holds no buffer while bulk is received: others may need it to make progress.
  void release_buffer() noexcept { input_.release_lease(); }
  /// The bytes of the body that are still to come, at most.
  [[nodiscard]] std::uint64_t left() const noexcept { return input_.left(); }
  /// These bytes of the body were received as bulk.
  void bypass(std::uint64_t count) noexcept { input_.bypass(count); }

  void interrupt() noexcept override { connection_->interrupt(); }
  [[nodiscard]] bool has_progressed() noexcept override { return connection_->has_progressed(); }

 private:
  task<write_outcome> send_chunk(std::string_view piece);
  [[nodiscard]] std::span<char> buffer();

  static constexpr std::size_t record = std::size_t{16} << 10U;

  connection_owner connection_;
  std::string head_;    // of the request
  std::string framed_;  // a small chunk, and the framing of a large one
  response_input input_;
  std::unique_ptr<char[]> buffer_;  // one record, for connections that lend nothing
  bool in_chunks_ = false;
};

}  // namespace gyre::http
