// gyre/io/io_error.hpp: what a failed operation throws.
#pragma once

#include <gyre/attributes.hpp>

#include <chrono>
#include <cstddef>
#include <source_location>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace gyre {

/// An operation failed: which, on what, and why. `what()` is "read_some 10.0.0.7:443: Connection reset by peer".
class GYRE_API io_error : public std::system_error {
 public:
  /// `operation` is the name of the gyre function, `object` the peer, path or name that it was applied to.
  io_error(std::error_code reason, std::string_view operation, std::string_view object);
  ~io_error() override;
};

/// The code of `timed_out`, which as_expected gives. It is equal to std::errc::timed_out, and its message does not mention a
/// connection: "the time limit has passed".
[[nodiscard]] GYRE_API std::error_code time_limit_passed() noexcept;

/// A time-out of the program's own (`timeout`), not one that the network reported. The code is equal to std::errc::timed_out.
/// `what()` says what timed out, and after how long: "read_some 10.0.0.7:443: timed out after 500 ms", or for code
/// "timeout: timed out after 2 s, waiting at fetch.cpp:33".
class GYRE_API timed_out : public io_error {
 public:
  explicit timed_out(std::string_view operation = "timeout", std::string_view object = {});
  /// `subject` did not finish within `limit`. `waiting_at` is the await that the code was suspended in; line 0: not known.
  timed_out(std::chrono::nanoseconds limit, std::string_view subject, const std::source_location& waiting_at = {});
  ~timed_out() override;

  [[nodiscard]] const char* what() const noexcept override { return text_.what(); }
  /// The time that had passed; zero when it is not known.
  [[nodiscard]] std::chrono::nanoseconds limit() const noexcept { return limit_; }

 private:
  std::runtime_error text_;  // copied without an allocation
  std::chrono::nanoseconds limit_{0};
};

/// Called while the error of an operation is handled that its time limit has ended: throws timed_out with the operation and the
/// object of that error. Another exception, and the timed_out of a limit inside, is thrown on as it is.
[[noreturn]] GYRE_API void throw_timed_out(std::chrono::nanoseconds limit);

/// The stream ended, or the transfer was cut off, before all bytes had passed.
class GYRE_API incomplete_transfer : public io_error {
 public:
  incomplete_transfer(std::error_code reason, std::string_view operation, std::string_view object, std::size_t done);
  ~incomplete_transfer() override;

  /// Bytes that did pass: they are in the caller's buffer, or on their way to the peer.
  [[nodiscard]] std::size_t transferred() const noexcept { return transferred_; }

 private:
  std::size_t transferred_;
};

/// Codes that no errno stands for.
enum class stream_errc : int {
  end_of_stream = 1,  ///< the peer finished sending in the middle of what was expected
  write_cut_off = 2,  ///< an earlier write_all was cancelled half-way: the stream's framing is lost
};

GYRE_API const std::error_category& stream_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(stream_errc e) noexcept {
  return {static_cast<int>(e), stream_category()};
}

}  // namespace gyre

template <>
struct std::is_error_code_enum<gyre::stream_errc> : std::true_type {};
