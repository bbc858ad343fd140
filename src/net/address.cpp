// src/net/address.cpp: reading and printing IP addresses.
#include <gyre/io/io_error.hpp>
#include <gyre/net/address.hpp>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace gyre {
namespace {

static_assert(sizeof(sockaddr_in6) == 28 && sizeof(sockaddr_in) <= 28);

// Digits only, no sign, no leading zero, at most 65535. -1: something else.
int read_port(std::string_view text) noexcept {
  if (text.empty() || text.size() > 5 || (text.size() > 1 && text[0] == '0')) return -1;
  int port = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    port = port * 10 + (c - '0');
  }
  return port <= 65'535 ? port : -1;
}

// inet_pton wants a string that ends with a zero.
bool copy_text(std::string_view text, char (&out)[64]) noexcept {
  if (text.size() >= sizeof(out) || text.find('\0') != std::string_view::npos) return false;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return true;
}

bool read_v4(std::string_view host, sockaddr_in& out) noexcept {
  char text[64];
  out.sin_family = AF_INET;
  return copy_text(host, text) && ::inet_pton(AF_INET, text, &out.sin_addr) == 1;
}

bool read_v6(std::string_view host, sockaddr_in6& out) noexcept {
  char text[64];
  out.sin6_family = AF_INET6;
  if (const std::size_t percent = host.find('%'); percent != std::string_view::npos) {
    if (!copy_text(host.substr(percent + 1), text)) return false;
    out.sin6_scope_id = ::if_nametoindex(text);
    if (out.sin6_scope_id == 0) return false;
    host = host.substr(0, percent);
  }
  return copy_text(host, text) && ::inet_pton(AF_INET6, text, &out.sin6_addr) == 1;
}

address make_v4(std::uint32_t host, std::uint16_t port) noexcept {
  sockaddr_in raw{};
  raw.sin_family = AF_INET;
  raw.sin_addr.s_addr = htonl(host);
  raw.sin_port = htons(port);
  return address::from_raw(&raw, sizeof(raw));
}

address make_v6(const in6_addr& host, std::uint16_t port) noexcept {
  sockaddr_in6 raw{};
  raw.sin6_family = AF_INET6;
  raw.sin6_addr = host;
  raw.sin6_port = htons(port);
  return address::from_raw(&raw, sizeof(raw));
}

}  // namespace

std::expected<address, std::error_code> address::parse(std::string_view text) noexcept {
  const auto invalid = std::unexpected(std::make_error_code(std::errc::invalid_argument));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return invalid;
  const int port = read_port(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  if (port < 0) return invalid;
  if (host.empty() || host == "*") return any_v4(static_cast<std::uint16_t>(port));
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    sockaddr_in6 raw{};
    raw.sin6_port = htons(static_cast<std::uint16_t>(port));
    if (!read_v6(host.substr(1, host.size() - 2), raw)) return invalid;
    return from_raw(&raw, sizeof(raw));
  }
  sockaddr_in raw{};
  raw.sin_port = htons(static_cast<std::uint16_t>(port));
  if (!read_v4(host, raw)) return invalid;
  return from_raw(&raw, sizeof(raw));
}

address::address(std::string_view text) {
  const auto parsed = parse(text);
  if (!parsed)
    throw io_error(parsed.error(), "address",
                   "\"" + std::string(text) + "\": expected HOST:PORT with a numeric host, such as 127.0.0.1:80 or [::1]:80");
  *this = *parsed;
}

address address::loopback_v4(std::uint16_t port) noexcept { return make_v4(INADDR_LOOPBACK, port); }
address address::any_v4(std::uint16_t port) noexcept { return make_v4(INADDR_ANY, port); }
address address::loopback_v6(std::uint16_t port) noexcept { return make_v6(in6addr_loopback, port); }
address address::any_v6(std::uint16_t port) noexcept { return make_v6(in6addr_any, port); }

bool address::is_v4() const noexcept { return size_ == sizeof(sockaddr_in); }
bool address::is_v6() const noexcept { return size_ == sizeof(sockaddr_in6); }

std::uint16_t address::port() const noexcept {
  // Both families keep it at the same place.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  std::uint16_t port = 0;
  std::memcpy(&port, raw_ + offsetof(sockaddr_in, sin_port), sizeof(port));
  return ntohs(port);
}

address address::with_port(std::uint16_t port) const noexcept {
  address copy = *this;
  const std::uint16_t raw = htons(port);
  if (!empty()) std::memcpy(copy.raw_ + offsetof(sockaddr_in, sin_port), &raw, sizeof(raw));
  return copy;
}

std::string address::host() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (is_v4()) ::inet_ntop(AF_INET, raw_ + offsetof(sockaddr_in, sin_addr), text, sizeof(text));
  if (!is_v6()) return text;
  ::inet_ntop(AF_INET6, raw_ + offsetof(sockaddr_in6, sin6_addr), text, sizeof(text));
  sockaddr_in6 raw{};
  std::memcpy(&raw, raw_, sizeof(raw));
  char name[IF_NAMESIZE] = "";
  if (raw.sin6_scope_id == 0 || ::if_indextoname(raw.sin6_scope_id, name) == nullptr) return text;
  return std::string(text) + "%" + name;
}

std::string address::string() const {
  if (empty()) return "";
  const std::string port_text = ":" + std::to_string(port());
  return is_v4() ? host() + port_text : "[" + host() + "]" + port_text;
}

address address::from_raw(const void* socket_address, std::uint32_t size) noexcept {
  address made;
  sa_family_t family = AF_UNSPEC;
  if (size >= sizeof(family)) std::memcpy(&family, socket_address, sizeof(family));
  const std::uint32_t wanted = family == AF_INET ? sizeof(sockaddr_in) : family == AF_INET6 ? sizeof(sockaddr_in6) : 0;
  if (wanted == 0 || size < wanted) return made;
  std::memcpy(made.raw_, socket_address, wanted);
  made.size_ = wanted;
  return made;
}

int address::compare(const address& a, const address& b) noexcept {
  if (a.size_ != b.size_) return a.size_ < b.size_ ? -1 : 1;
  return std::memcmp(a.raw_, b.raw_, a.size_);
}

}  // namespace gyre
