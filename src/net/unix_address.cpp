// src/net/unix_address.cpp: paths and abstract names as socket addresses.
#include <gyre/io/io_error.hpp>
#include <gyre/net/unix_address.hpp>

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>

namespace gyre {

static_assert(offsetof(sockaddr_un, sun_path) == 2 && sizeof(sockaddr_un) == 110 && AF_UNIX == 1);

std::expected<unix_address, std::error_code> unix_address::parse(std::string_view path_or_name) noexcept {
  if (path_or_name.empty() || path_or_name.find('\0') != std::string_view::npos)
    return std::unexpected(std::make_error_code(std::errc::invalid_argument));
  const bool abstract = path_or_name.front() == '@';
  if (path_or_name.size() - (abstract ? 1 : 0) > max_size)
    return std::unexpected(std::make_error_code(std::errc::filename_too_long));
  unix_address result;
  // An abstract name begins with a zero byte, and its length is explicit. A path ends with a zero byte.
  std::memcpy(result.raw_ + prefix, path_or_name.data(), path_or_name.size());
  if (abstract) result.raw_[prefix] = std::byte{0};
  result.length_ = static_cast<std::uint16_t>(path_or_name.size() + (abstract ? 0 : 1));
  return result;
}

unix_address::unix_address(std::string_view path_or_name) {
  const auto parsed = parse(path_or_name);
  if (!parsed) throw io_error(parsed.error(), "unix_address", '"' + std::string(path_or_name) + '"');
  *this = *parsed;
}

std::string_view unix_address::name() const noexcept {
  if (is_unnamed()) return {};
  return is_abstract() ? text().substr(1) : text().substr(0, text().size() - 1);
}

std::string unix_address::string() const {
  if (is_unnamed()) return "unnamed";
  std::string result(is_abstract() ? text() : name());
  if (is_abstract()) std::replace(result.begin(), result.end(), '\0', '@');
  return result;
}

unix_address unix_address::from_raw(const void* socket_address, std::uint32_t size) noexcept {
  unix_address result;
  if (size <= prefix || size > sizeof(sockaddr_un)) return result;
  if (static_cast<const sockaddr*>(socket_address)->sa_family != AF_UNIX) return result;
  std::memcpy(result.raw_, socket_address, size);
  result.length_ = static_cast<std::uint16_t>(size - prefix);
  if (result.is_abstract()) return result;
  // The kernel may return a path of 108 bytes without its terminator, and a length that
  // includes bytes after the terminator.
  const std::size_t length =
      std::min(max_size, ::strnlen(reinterpret_cast<const char*>(result.raw_ + prefix), max_size));
  std::memset(result.raw_ + prefix + length, 0, sizeof(result.raw_) - prefix - length);
  result.length_ = static_cast<std::uint16_t>(length + 1);
  return result;
}

}  // namespace gyre
