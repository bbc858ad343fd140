// gyre/io/io_error.hpp: what a failed operation throws.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
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

/// A time-out of the program's own (`timeout`), not one that the network reported. The code is std::errc::timed_out.
class GYRE_API timed_out : public io_error {
 public:
  explicit timed_out(std::string_view operation = "timeout", std::string_view object = {});
  ~timed_out() override;
};

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
