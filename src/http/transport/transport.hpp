// src/http/transport/transport.hpp: carries the bytes of a connection, over a socket or any byte stream.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/buffer_lease.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/net/secure_session.hpp>

#include "exchange/end_source.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>
#include <system_error>

namespace gyre {
class socket_bulk;
}

namespace gyre::http {

/// The result of sending a part of a file.
struct send_file_result {
  std::error_code outcome = {};
  std::size_t sent = 0;             // less than requested without an error: the file ended early
  std::error_code file_error = {};  // the same as `outcome` if the file cannot be read
};

/// The result of sendfile(2), whose time limit may have expired.
[[nodiscard]] send_file_result result_of_file(const std::expected<std::size_t, std::error_code>& outcome,
                                              bool expired) noexcept;

/// The next step of a caller of write_now().
enum class write_hint : std::uint8_t {
  none,
  more_follows,   // the kernel may hold the bytes back until then
  waits_for_rest  // nothing is taken where the socket would submit a write together with others: decision 0005
};

/// Errors of the connection are results here, because they are routine for a server. A transfer ends without an error,
/// or with stream_errc::end_of_stream when the peer has finished sending, time_limit_passed(), operation_canceled when
/// the program has interrupted it, or the reason why the connection is broken.
class transport : public end_source {
 public:
  /// A client must take this much within the limit of a write. Then the limit starts anew for the rest.
  static constexpr std::size_t taken_within_limit = std::size_t{64} << 10U;

  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  /// Waits for bytes. Cancel: nothing is lost.
  virtual task<std::error_code> receive(buffer_lease& into, std::chrono::nanoseconds limit) = 0;
  /// Writes one or two ranges. Cancel: the data may be cut off.
  virtual task<std::error_code> write(std::string_view first, std::string_view second,
                                      std::chrono::nanoseconds limit) = 0;
  /// Sends a part of a file. Cancel: the data may be cut off.
  virtual task<send_file_result> send_file(int file, std::uint64_t offset, std::size_t count,
                                           std::chrono::nanoseconds limit) = 0;
  /// The socket from and to which pieces of bulk can be moved as they are, or null.
  [[nodiscard]] virtual socket_state* bulk_socket() noexcept { return nullptr; }
  /// Receives at most `most` bytes from bulk_socket(). An empty piece without an error: receive() has to go on. Cancel:
  /// nothing is lost.
  virtual task<std::error_code> receive_bulk(socket_bulk& /*piece*/, std::uint64_t /*max_count*/,
                                             std::chrono::nanoseconds /*limit*/) {
    co_return std::make_error_code(std::errc::operation_not_supported);
  }
  /// Writes the piece of a socket_bulk to bulk_socket(). Cancel: the data may be cut off.
  virtual task<std::error_code> write_bulk(socket_bulk& /*piece*/, std::chrono::nanoseconds /*limit*/) {
    co_return std::make_error_code(std::errc::operation_not_supported);
  }
  /// Returns the number of bytes that the kernel takes without waiting, perhaps 0, or -errno when the connection is
  /// broken.
  virtual std::ptrdiff_t write_now(std::string_view bytes, write_hint hint) noexcept = 0;
  /// False if write_now() never takes any bytes.
  [[nodiscard]] virtual bool writes_now() const noexcept = 0;
  /// Announces that nothing more will be written. Errors are ignored. A peer that does not take it within the limit of
  /// a write gets a reset.
  virtual task<> shutdown_write() = 0;
  /// True when closing without shutdown_write() could lose bytes that were written.
  [[nodiscard]] virtual bool has_to_shut_down() const noexcept { return false; }
  /// Makes the connection end with a reset: the peer notices that data is missing, and the kernel keeps no unsent data.
  virtual void reset_at_end() noexcept = 0;
  /// Ends a waiting receive with operation_canceled.
  virtual void interrupt() noexcept = 0;
  /// The encryption of the connection, or null.
  [[nodiscard]] virtual const secure_session* security() const noexcept { return nullptr; }
};

}  // namespace gyre::http
