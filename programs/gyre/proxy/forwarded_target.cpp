// programs/gyre/proxy/forwarded_target.cpp
#include "programs/gyre/proxy/forwarded_target.hpp"

#include <gyre/client/url.hpp>
#include <gyre/http/target.hpp>

#include <cstddef>
#include <stdexcept>

namespace programs {
namespace {

// A server may take each of these for a slash or a dot, and may leave out what follows a semicolon.
bool has_dot_segment(std::string_view path) noexcept {
  std::size_t dots = 0;
  bool other = false;
  bool in_parameter = false;
  const auto ends_in_dots = [&] { return !other && (dots == 1 || dots == 2); };
  for (; !path.empty(); path.remove_prefix(1)) {
    const auto is_encoded = [&path](std::string_view lower, std::string_view upper) {
      if (!path.starts_with(lower) && !path.starts_with(upper)) return false;
      path.remove_prefix(2);
      return true;
    };
    if (path.front() == '/' || path.front() == '\\' || is_encoded("%2f", "%2F") || is_encoded("%5c", "%5C")) {
      if (ends_in_dots()) return true;
      dots = 0;
      other = in_parameter = false;
    } else if (path.front() == ';') {
      in_parameter = true;
    } else if (path.front() == '.' || is_encoded("%2e", "%2E")) {
      dots += in_parameter ? 0 : 1;
    } else {
      other = other || !in_parameter;
    }
  }
  return ends_in_dots();
}

}  // namespace

std::string forwarded_target(std::string_view path_of_server, std::string_view target) {
  std::string_view prefix = path_of_server;
  if (prefix.ends_with('/')) prefix.remove_suffix(1);
  std::string below(target);
  if (!target.starts_with('/')) {  // the absolute form
    const gyre::http::target_parts parts = gyre::http::split_target(target);
    below = parts.path;
    if (target.contains('?')) below.append("?").append(parts.query);
  }
  if (prefix.empty()) return below;
  const auto path_of = [](const std::string& text) { return std::string_view(text).substr(0, text.find('?')); };
  if (has_dot_segment(path_of(below))) {
    below = gyre::http::url("http://server" + below).target();
    if (has_dot_segment(path_of(below))) throw std::invalid_argument("the target may leave the path of the server");
  }
  return std::string(prefix) + below;
}

}  // namespace programs
