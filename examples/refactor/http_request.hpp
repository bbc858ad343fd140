// examples/refactor/http_request.hpp: parses requests, for both HTTP servers.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace http_files {

struct request {
  std::string method;
  std::string path;  // decoded, without the query
  bool keep_alive;
};

inline bool is_token(std::string_view text) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || others.contains(c);
  });
}
inline bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Returns the text before the separator. `text` keeps the rest after it.
inline std::string_view take_until(std::string_view& text, std::string_view separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
  return part;
}

inline std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// "/a%20b?c" becomes "/a b". Returns nothing when the target is invalid, or contains a
/// byte that could end a path early.
inline std::optional<std::string> decode_path(std::string_view target) {
  if (lower(target.substr(0, 7)) == "http://") {
    const std::size_t slash = target.find('/', 7);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  std::string_view rest = target.substr(0, target.find('?'));
  if (!rest.starts_with('/')) return std::nullopt;
  std::string path;
  while (!rest.empty()) {
    char c = rest.front();
    if (c == '%') {
      unsigned value = 0;
      const char* const end = rest.data() + std::min<std::size_t>(rest.size(), 3);
      const auto [stop, error] = std::from_chars(rest.data() + 1, end, value, 16);
      if (error != std::errc() || stop != rest.data() + 3) return std::nullopt;
      c = static_cast<char>(value);
      rest.remove_prefix(2);
    }
    if (c == '\0') return std::nullopt;
    path += c;
    rest.remove_prefix(1);
  }
  return path;
}

/// Parses the head of a request, with the empty line that ends it. Returns nothing when it is invalid.
inline std::optional<request> parse_head(std::string_view head) {
  while (head.starts_with("\r\n")) head.remove_prefix(2);  // some clients send an extra line end after a body
  std::string_view line = take_until(head, "\r\n");
  const std::string_view method = take_until(line, " ");
  const std::string_view target = take_until(line, " ");
  const auto path = decode_path(target);
  const bool newest = line == "HTTP/1.1";
  if (!is_token(method) || !path || (!newest && line != "HTTP/1.0")) return std::nullopt;
  if (std::ranges::any_of(target, is_control)) return std::nullopt;

  request asked{std::string(method), *path, newest};
  int hosts = 0;
  for (line = take_until(head, "\r\n"); !line.empty(); line = take_until(head, "\r\n")) {
    if (!line.contains(':')) return std::nullopt;
    const std::string field = lower(take_until(line, ":"));
    const std::string value = lower(trim(line));
    const auto forbidden = [](char c) { return is_control(c) && c != '\t'; };
    if (!is_token(field) || std::ranges::any_of(value, forbidden)) return std::nullopt;
    if (field == "host") ++hosts;
    // Bodies are not read, so the bytes of one would be taken for a request.
    if ((field == "content-length" && value != "0") || field == "transfer-encoding") asked.keep_alive = false;
    if (field == "connection") {
      std::string_view options = value;
      while (!options.empty())
        if (trim(take_until(options, ",")) == "close") asked.keep_alive = false;
    }
  }
  if (hosts > 1 || (hosts == 0 && newest)) return std::nullopt;
  return asked;
}

}  // namespace http_files
