// src/net/host_port.cpp: splitting "host:port".
#include <gyre/net/host_port.hpp>

#include <charconv>
#include <cstddef>

namespace gyre {
namespace {

bool read_port(std::string_view text, std::uint16_t& port) noexcept {
  // from_chars accepts no sign for an unsigned number, no space, and no number that is too large.
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && (text.size() == 1 || text[0] != '0');
}

bool may_be_in_host(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte > ' ' && byte != 0x7f && std::string_view("[]/\\@\"").find(c) == std::string_view::npos;
}

}  // namespace

std::expected<host_port, std::error_code> host_port::parse(std::string_view text) noexcept {
  const auto invalid = std::unexpected(std::make_error_code(std::errc::invalid_argument));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return invalid;
  host_port parts;
  if (!read_port(text.substr(colon + 1), parts.port)) return invalid;
  parts.host = text.substr(0, colon);
  const bool bracketed = parts.host.size() >= 2 && parts.host.front() == '[' && parts.host.back() == ']';
  if (bracketed) parts.host = parts.host.substr(1, parts.host.size() - 2);
  if (bracketed != parts.host.contains(':')) return invalid;
  for (const char c : parts.host)
    if (!may_be_in_host(c)) return invalid;
  return parts;
}

}  // namespace gyre
