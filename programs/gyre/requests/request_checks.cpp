// programs/gyre/requests/request_checks.cpp: checks the options of commands that send HTTP requests.
#include "programs/gyre/requests/request_checks.hpp"

#include <gyre/client/url.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace programs {
namespace {

bool is_token(std::string_view text) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || others.contains(c);
  });
}

}  // namespace

std::string check_url(const std::string& text) {
  const auto parsed = gyre::http::url::parse(text);
  if (!parsed) return parsed.error();
  if (parsed->scheme() == "http" || parsed->scheme() == "https") return {};
  return fmt::format("expected http:// or https://, got \"{}\"", text);
}

std::string check_method(const std::string& text) {
  if (is_token(text) && text != "CONNECT") return {};
  return fmt::format("expected a method such as GET, other than CONNECT, got \"{}\"", text);
}

std::string check_request_header(const std::string& text) {
  const auto colon = text.find(':');
  const std::string_view name = std::string_view(text).substr(0, colon);
  const bool has_line_end = text.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
  if (colon == std::string::npos || !is_token(name) || has_line_end)
    return fmt::format("expected \"Name: value\", got \"{}\"", text);
  for (const char* const own : {"content-length", "transfer-encoding", "connection"})
    if (CLI::detail::to_lower(std::string(name)) == own)
      return fmt::format("{} is set by the program: use --data for a body", name);
  return {};
}

std::string read_data(const std::string& text) {
  if (!text.starts_with('@')) return text;
  std::ifstream file(text.substr(1), std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) throw std::runtime_error(fmt::format("--data: cannot read {}", text.substr(1)));
  return content;
}

}  // namespace programs
