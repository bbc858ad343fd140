// tests/http/access_log_lines.hpp: an application with an access log, and the lines of that log.
#pragma once

#include <gyre/http/access_log.hpp>
#include <gyre/http/authentication.hpp>
#include <gyre/http/request_id.hpp>
#include <gyre/io/pipe.hpp>

#include "tests/http/http_client.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <regex>
#include <string>
#include <vector>

namespace gyre_test {

inline const std::string combined_line =
    R"re((\S+) - (\S+) \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+) )re"
    R"re("((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)" \d+\.\d{6})re";

inline std::string drain(int fd) {
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  std::string text;
  std::array<char, 4096> piece;
  for (ssize_t n = 0; (n = ::read(fd, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(n));
  return text;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  EXPECT_EQ(begin, text.size()) << "the last line has an end";
  return lines;
}

inline http::server_options logging_options(http::access_log& log) {
  http::router routes;
  const auto any_user = [](std::string_view, std::string_view) { return true; };
  routes.get("/", [](http::request&) { return http::response::text("hello"); });
  routes.get("/{path...}", [](http::request&) { return http::response::text("there"); });
  auto known = routes.at("/known");
  known.use(http::basic_authentication("all", any_user));
  known.use(http::request_id({.trust_client = true}));
  known.get("", [](http::request&) { return http::response::no_content(); });
  http::server_options options;
  options.listen.clear();
  options.routes = std::move(routes);
  options.observer = &log;
  return options;
}

/// True when the line is one JSON object whose members are strings, numbers and booleans.
inline bool is_json_object(const std::string& line) {
  static const std::regex object(
      R"re(\{("[a-z_]+":("(?:[^"\\\x00-\x1f]|\\["\\]|\\u[0-9a-f]{4})*"|\d+(\.\d+)?|true|false)(,(?!\})|(?=\})))+\})re");
  return std::regex_match(line, object);
}
}  // namespace gyre_test
