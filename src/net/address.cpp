// src/net/address.cpp: parses and prints IP addresses.
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/net/address.hpp>
#include <gyre/net/host_port.hpp>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace gyre {
namespace {

static_assert(sizeof(address) == 32 && alignof(address) >= alignof(sockaddr_in6));
static_assert(sizeof(sockaddr_in6) == 28 && sizeof(sockaddr_in) <= 28);
// Both families have the port at the same offset.
constexpr std::size_t port_at = offsetof(sockaddr_in, sin_port);
static_assert(port_at == offsetof(sockaddr_in6, sin6_port));

// inet_pton needs a null-terminated string.
bool copy_text(std::string_view text, char (&out)[64]) noexcept {
  if (text.size() >= sizeof(out) || text.contains('\0')) return false;
  text.copy(out, text.size());
  out[text.size()] = '\0';
  return true;
}

// Returns the index of an interface given by name or number, or 0 when it is neither.
std::uint32_t read_scope(std::string_view text) noexcept {
  char name[64];
  if (!copy_text(text, name)) return 0;
  if (const std::uint32_t index = io::sockets().if_nametoindex(name); index != 0) return index;
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool number = error == std::errc() && end == text.data() + text.size() && text[0] != '0';
  return number ? index : 0;
}

bool read_v4(std::string_view host, in_addr& out) noexcept {
  char text[64];
  return copy_text(host, text) && ::inet_pton(AF_INET, text, &out) == 1;
}

bool read_v6(std::string_view host, in6_addr& out, std::uint32_t& scope) noexcept {
  if (const std::size_t percent = host.find('%'); percent != std::string_view::npos) {
    scope = read_scope(host.substr(percent + 1));
    if (scope == 0) return false;
    host = host.substr(0, percent);
  }
  char text[64];
  return copy_text(host, text) && ::inet_pton(AF_INET6, text, &out) == 1;
}

address make_v4(in_addr host, std::uint16_t port) noexcept {
  sockaddr_in raw{};
  raw.sin_family = AF_INET;
  raw.sin_addr = host;
  raw.sin_port = htons(port);
  return address::from_raw(&raw, sizeof(raw));
}

address make_v6(const in6_addr& host, std::uint16_t port, std::uint32_t scope = 0) noexcept {
  sockaddr_in6 raw{};
  raw.sin6_family = AF_INET6;
  raw.sin6_addr = host;
  raw.sin6_port = htons(port);
  raw.sin6_scope_id = scope;
  return address::from_raw(&raw, sizeof(raw));
}

}  // namespace

std::expected<address, std::error_code> address::parse(std::string_view host, std::uint16_t port) noexcept {
  if (host == "*") return any_v4(port);
  if (in_addr v4{}; read_v4(host, v4)) return make_v4(v4, port);
  std::uint32_t scope = 0;
  if (in6_addr v6{}; read_v6(host, v6, scope)) return make_v6(v6, port, scope);
  return std::unexpected(std::make_error_code(std::errc::invalid_argument));
}

std::expected<address, std::error_code> address::parse(std::string_view host_and_port) noexcept {
  const auto parts = host_port::parse(host_and_port);
  if (!parts) return std::unexpected(parts.error());
  return parse(parts->host.empty() ? "*" : parts->host, parts->port);
}

address::address(std::string_view host_and_port) {
  const auto parsed = parse(host_and_port);
  if (!parsed)
    throw io_error(parsed.error(), "address",
                   "\"" + std::string(host_and_port) +
                       "\": expected HOST:PORT with a numeric host, such as 127.0.0.1:80, [::1]:80 or *:80");
  *this = *parsed;
}

address address::loopback_v4(std::uint16_t port) noexcept { return make_v4({.s_addr = htonl(INADDR_LOOPBACK)}, port); }
address address::any_v4(std::uint16_t port) noexcept { return make_v4({.s_addr = htonl(INADDR_ANY)}, port); }
address address::loopback_v6(std::uint16_t port) noexcept { return make_v6(in6addr_loopback, port); }
address address::any_v6(std::uint16_t port) noexcept { return make_v6(in6addr_any, port); }

bool address::is_v4() const noexcept { return size_ == sizeof(sockaddr_in); }
bool address::is_v6() const noexcept { return size_ == sizeof(sockaddr_in6); }

std::uint16_t address::port() const noexcept {
  std::uint16_t port = 0;
  std::memcpy(&port, raw_ + port_at, sizeof(port));
  return ntohs(port);
}

address address::with_port(std::uint16_t port) const noexcept {
  address copy = *this;
  const std::uint16_t raw = htons(port);
  if (!empty()) std::memcpy(copy.raw_ + port_at, &raw, sizeof(raw));
  return copy;
}

std::array<std::uint8_t, 16> address::bytes_v6() const noexcept {
  std::array<std::uint8_t, 16> bytes{};
  if (is_v6()) std::memcpy(bytes.data(), raw_ + offsetof(sockaddr_in6, sin6_addr), bytes.size());
  if (!is_v4()) return bytes;
  bytes[10] = bytes[11] = 0xff;
  std::memcpy(bytes.data() + 12, raw_ + offsetof(sockaddr_in, sin_addr), sizeof(in_addr));
  return bytes;
}

address address::network_v6(std::size_t bytes) const noexcept {
  address copy = *this;
  bytes = std::min(bytes, sizeof(in6_addr));
  if (is_v6()) std::memset(copy.raw_ + offsetof(sockaddr_in6, sin6_addr) + bytes, 0, sizeof(in6_addr) - bytes);
  return copy;
}

address address::unmapped() const noexcept {
  in6_addr host{};
  if (!is_v6()) return *this;
  std::memcpy(&host, raw_ + offsetof(sockaddr_in6, sin6_addr), sizeof(host));
  if (!IN6_IS_ADDR_V4MAPPED(&host)) return *this;
  in_addr v4{};
  std::memcpy(&v4, host.s6_addr + 12, sizeof(v4));
  return make_v4(v4, port());
}

std::uint32_t address::scope_id() const noexcept {
  std::uint32_t scope = 0;
  if (is_v6()) std::memcpy(&scope, raw_ + offsetof(sockaddr_in6, sin6_scope_id), sizeof(scope));
  return scope;
}

namespace {

// inet_ntop calls sprintf for this, which costs ten times as much.
std::string text_of_v4(const std::byte* bytes) {
  char text[INET_ADDRSTRLEN];
  char* end = text;
  for (int i = 0; i < 4; ++i) {
    if (i > 0) *end++ = '.';
    end = std::to_chars(end, text + sizeof(text), std::to_integer<unsigned>(bytes[i])).ptr;
  }
  return {text, end};
}

}  // namespace

std::string address::host() const {
  if (is_v4()) return text_of_v4(raw_ + offsetof(sockaddr_in, sin_addr));
  char text[INET6_ADDRSTRLEN] = "";
  if (is_v6()) ::inet_ntop(AF_INET6, raw_ + offsetof(sockaddr_in6, sin6_addr), text, sizeof(text));
  const std::uint32_t scope = scope_id();
  if (scope == 0) return text;
  char name[IF_NAMESIZE] = "";
  return std::string(text) + "%" +
         (io::sockets().if_indextoname(scope, name) == nullptr ? std::to_string(scope) : name);
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
  if (family == AF_INET)
    std::memset(made.raw_ + offsetof(sockaddr_in, sin_zero), 0, sizeof(sockaddr_in::sin_zero));
  else
    std::memset(made.raw_ + offsetof(sockaddr_in6, sin6_flowinfo), 0, sizeof(sockaddr_in6::sin6_flowinfo));
  return made;
}

int address::compare(const address& a, const address& b) noexcept {
  const auto order = [](std::uint32_t x, std::uint32_t y) { return x < y ? -1 : x > y ? 1 : 0; };
  if (const int by_family = order(a.size_, b.size_); by_family != 0) return by_family;
  const std::size_t host_at = a.is_v4() ? offsetof(sockaddr_in, sin_addr) : offsetof(sockaddr_in6, sin6_addr);
  const std::size_t host_size = a.is_v4() ? sizeof(in_addr) : sizeof(in6_addr);
  if (const int by_host = std::memcmp(a.raw_ + host_at, b.raw_ + host_at, host_size); by_host != 0) return by_host;
  if (const int by_scope = order(a.scope_id(), b.scope_id()); by_scope != 0) return by_scope;
  return order(a.port(), b.port());
}

}  // namespace gyre
