// gyre/http/body_sink.hpp: the interface of what a body is written to.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace gyre {
class socket_bulk;
struct socket_state;
}  // namespace gyre

namespace gyre::http {

/// A body that is sent. For authors of protocols, and of code that transforms bodies, such as compression; users write
/// through a body_writer, which checks the length and that each piece was whole.
///
/// Flow control: write(), send_file() and write_bulk() wait while the other side does not accept earlier bytes.
///
/// Errors, of the functions that are awaited: io_error with the code of the connection.
/// Cancel: the body is cut off in the middle of a piece, here and below.
/// Thread: that of the exchange. One caller at a time.
class GYRE_API body_sink {
 public:
  virtual ~body_sink() = default;

  /// Adds to the body. An empty piece adds nothing, and fails when the connection is known to be broken.
  ///
  /// Lifetime: `piece` stays valid until the await returns. Cancel, errors: see body_sink.
  [[nodiscard]] virtual task<> write(std::string_view piece) = 0;
  /// Adds a small piece without waiting. Dropped when the connection is broken, which the next write reports.
  virtual void append(std::string_view piece) = 0;
  /// Returns when everything written has been handed on, and the head in any case.
  ///
  /// Cancel, errors: see body_sink.
  [[nodiscard]] virtual task<> flush() = 0;

  /// Adds a part of a file, at least one byte. By default, reads it on the thread pool for files, and writes the
  /// pieces.
  ///
  /// Cancel: see body_sink. Errors: see body_sink; io_error when the file cannot be read, or has become shorter.
  [[nodiscard]] virtual task<> send_file(int file, std::uint64_t offset, std::uint64_t count);

  /// Lets the head leave before the first byte. Defaults to a no-op.
  virtual void send_head() {}
  /// Adds a field that follows the body. The name is a token that may_be_trailer(), the value a field value. Defaults
  /// to dropping the field.
  virtual void add_trailer(std::string_view /*name*/, std::string_view /*value*/) {}

  /// Bytes that wait here for the other side, framing included. Defaults to 0: not known.
  [[nodiscard]] virtual std::size_t waiting() const noexcept { return 0; }
  /// Why nothing more is sent, if the sink knows that. Defaults to no error.
  [[nodiscard]] virtual std::error_code error() const noexcept { return {}; }
  /// Hands on what the other side accepts without waiting. Called when too much waits. Defaults to a no-op.
  virtual void push() noexcept {}

  /// The socket to which write_bulk() moves bytes as they are, or null when they have to be written. Defaults to null.
  [[nodiscard]] virtual socket_state* bulk_socket() const noexcept;
  /// Adds the piece in `bulk`. May be called while bulk_socket() is not null.
  ///
  /// Cancel, errors: see body_sink.
  [[nodiscard]] virtual task<> write_bulk(socket_bulk& bulk);
};

}  // namespace gyre::http
