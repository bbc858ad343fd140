// gyre/io/io_error.hpp: the exception that a failed operation throws.
#pragma once

#include <gyre/attributes.hpp>

#include <chrono>
#include <cstddef>
#include <source_location>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace gyre {

/// A failed operation, with the operation, its object and the reason. `what()` is "read_some 10.0.0.7:443: Connection
/// reset by peer".
class GYRE_API io_error : public std::system_error {
 public:
  /// `operation` is the name of the gyre function. `object` is the peer, path or name to which it was applied.
  io_error(std::error_code reason, std::string_view operation, std::string_view object);
  ~io_error() override;
};

/// The code of `timed_out`, which as_expected returns. It is equal to std::errc::timed_out, but its message does not
/// mention a connection: "the time limit has passed".
[[nodiscard]] GYRE_API std::error_code time_limit_passed() noexcept;

/// A time-out that the program has set (`timeout`), not one that the network reported. The code is equal to
/// std::errc::timed_out. `what()` names the operation that timed out and the limit: "read_some 10.0.0.7:443: timed out
/// after 500 ms", or for code "timeout: timed out after 2 s, waiting at fetch.cpp:33".
class GYRE_API timed_out : public io_error {
 public:
  explicit timed_out(std::string_view operation = "timeout", std::string_view object = {});
  /// `subject` did not finish within `limit`. `waiting_at` is the await in which the code was suspended; line 0 means
  /// unknown.
  timed_out(std::chrono::nanoseconds limit, std::string_view subject, const std::source_location& waiting_at = {});
  ~timed_out() override;

  [[nodiscard]] const char* what() const noexcept override { return text_.what(); }
  /// The limit that was exceeded; zero when it is not known.
  [[nodiscard]] std::chrono::nanoseconds limit() const noexcept { return limit_; }

 private:
  std::runtime_error text_;  // copied without an allocation
  std::chrono::nanoseconds limit_{0};
};

/// Called while handling the error of an operation that its time limit has ended. Throws timed_out with the operation
/// and the object of that error. Rethrows any other exception, and the timed_out of an inner limit, unchanged.
[[noreturn]] GYRE_API void throw_timed_out(std::chrono::nanoseconds limit);

/// The stream ended, or the transfer was cut off, before all bytes were transferred.
class GYRE_API incomplete_transfer : public io_error {
 public:
  incomplete_transfer(std::error_code reason, std::string_view operation, std::string_view object, std::size_t done);
  ~incomplete_transfer() override;

  /// The number of transferred bytes: they are in the caller's buffer, or on their way to the peer.
  [[nodiscard]] std::size_t transferred() const noexcept { return transferred_; }

 private:
  std::size_t transferred_;
};

/// Error codes without an errno.
enum class stream_errc : int {
  end_of_stream = 1,  ///< the peer finished sending in the middle of the expected data
  write_cut_off = 2,  ///< an earlier write_all was cancelled half-way: the stream's framing is lost
};

GYRE_API const std::error_category& stream_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(stream_errc e) noexcept {
  return {static_cast<int>(e), stream_category()};
}

}  // namespace gyre

template <>
struct std::is_error_code_enum<gyre::stream_errc> : std::true_type {};
