// gyre/http/body_source.hpp: the interface of what a body is read from.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/field.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gyre {
class socket_bulk;
struct socket_state;
}  // namespace gyre

namespace gyre::http {

/// A body that arrives. For authors of protocols, and of code that transforms bodies; users read through a body_reader.
///
/// Flow control: the bytes belong to the source until they are taken, so a source limits how many it holds, and makes
/// its sender wait.
///
/// Errors, of take() and of what wait() and receive_bulk() return: status_error for the sender's fault (400 for
/// malformed framing, 408 for a sender that is too slow); incomplete_transfer with the code of the connection when the
/// body is cut off. failed() is true from then on.
/// Thread: that of the exchange. One caller at a time.
class GYRE_API body_source {
 public:
  virtual ~body_source() = default;

  /// Removes and returns bytes that have arrived, at most `max`. Empty when none have, and at the end. Lifetime: until
  /// the next call of a function that is not const.
  [[nodiscard]] virtual std::string_view take(std::size_t max) = 0;
  /// Waits until there is something to take, or the end. Called when take() has returned nothing. Holds no buffer
  /// meanwhile: others may need it to make progress.
  ///
  /// Cancel: nothing is lost.
  [[nodiscard]] virtual task<> wait() = 0;
  /// True when everything has been taken, and the end is known.
  [[nodiscard]] virtual bool at_end() const noexcept = 0;
  /// True when no more will come, although the end has not.
  [[nodiscard]] virtual bool failed() const noexcept = 0;

  /// The length of the whole body, if its sender has announced it.
  [[nodiscard]] virtual std::optional<std::uint64_t> length() const noexcept = 0;
  /// The fields after the body. Lifetime: same as the message. Defaults to none.
  [[nodiscard]] virtual std::vector<field> trailers() const;

  /// Tells a sender that waits for it (Expect: 100-continue) to send the body. Defaults to a no-op.
  ///
  /// Cancel: the sender may have been told. Errors: none.
  [[nodiscard]] virtual task<> ask_for_it();
  /// The rest will not be read: the body is larger than its reader accepts.
  virtual void give_up() noexcept {}

  /// The socket from which receive_bulk() moves the next bytes as they are, or null when they have to be taken. The
  /// default is null.
  [[nodiscard]] virtual socket_state* bulk_socket() const noexcept;
  /// Moves the next bytes into `bulk`, and returns their number, or 0 when take() and wait() have to go on. May be
  /// called while bulk_socket() is not null.
  ///
  /// Cancel: nothing is lost.
  [[nodiscard]] virtual task<std::size_t> receive_bulk(socket_bulk& bulk);
  /// Follows the last call of receive_bulk() in a row. Idempotent.
  virtual void end_bulk() noexcept {}
};

}  // namespace gyre::http
