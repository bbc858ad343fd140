// gyre/net/unix_address.hpp: the address of a Unix socket. unix(7).
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <system_error>

namespace gyre {

/// The path of a Unix socket, or a name in the abstract namespace, which has no file. Unnamed by default, like the
/// peers of a server.
class GYRE_API unix_address {
 public:
  /// The maximum length of a path, and of an abstract name, in bytes.
  static constexpr std::size_t max_size = 107;

  unix_address() noexcept = default;

  /// "/run/server.sock", or "@name" for an abstract name.
  /// Errors: std::errc::invalid_argument when it is empty or contains a zero byte, filename_too_long.
  [[nodiscard]] static std::expected<unix_address, std::error_code> parse(std::string_view path_or_name) noexcept;

  /// Same as parse. Errors: io_error `unix_address "…": File name too long`.
  explicit unix_address(std::string_view path_or_name);

  [[nodiscard]] bool is_unnamed() const noexcept { return length_ == 0; }
  [[nodiscard]] bool is_abstract() const noexcept { return length_ > 0 && raw_[prefix] == std::byte{0}; }
  /// The path, or the abstract name without the "@".
  [[nodiscard]] std::string_view name() const noexcept;
  /// The text that parse accepts, or "unnamed". Zero bytes inside an abstract name become "@".
  [[nodiscard]] std::string string() const;

  friend bool operator==(const unix_address& a, const unix_address& b) noexcept { return a.text() == b.text(); }

  // For authors: a struct sockaddr_un. Any other address becomes unnamed.
  [[nodiscard]] const void* data() const noexcept { return raw_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(prefix + length_); }
  [[nodiscard]] static unix_address from_raw(const void* socket_address, std::uint32_t size) noexcept;

 private:
  static constexpr std::size_t prefix = 2;  // the family
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(raw_ + prefix), length_};
  }

  alignas(2) std::byte raw_[prefix + max_size + 1] = {std::byte{1}, std::byte{0}};  // AF_UNIX
  std::uint16_t length_ = 0;  // bytes after the family; for a path, including its zero byte
};

}  // namespace gyre
