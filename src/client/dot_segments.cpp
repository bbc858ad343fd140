// src/client/dot_segments.cpp: removes "." and ".." from a path, in place.
#include "dot_segments.hpp"

#include <algorithm>
#include <string_view>

namespace gyre::http {

void remove_dot_segments(std::string& text, std::size_t path_begin) {
  if (text.find('.', path_begin) == std::string::npos && text.find("%2", path_begin) == std::string::npos) return;
  const auto is_dot = [](std::string_view& segment) {
    if (segment.starts_with('.')) {
      segment.remove_prefix(1);
      return true;
    }
    if (!segment.starts_with("%2e") && !segment.starts_with("%2E")) return false;
    segment.remove_prefix(3);
    return true;
  };
  std::size_t to = path_begin;  // the segments so far, each with its slash
  for (std::size_t from = path_begin; from < text.size();) {
    const std::size_t end = std::min(text.find('/', from + 1), text.size());
    std::string_view segment = std::string_view(text).substr(from + 1, end - from - 1);
    const bool last = end == text.size();
    const bool one = is_dot(segment);
    const bool two = one && is_dot(segment);
    if (one && segment.empty()) {
      if (two) to = to == path_begin ? to : std::max(text.rfind('/', to - 1), path_begin);
      if (last) text[to++] = '/';
    } else {
      std::copy(text.begin() + static_cast<std::ptrdiff_t>(from), text.begin() + static_cast<std::ptrdiff_t>(end),
                text.begin() + static_cast<std::ptrdiff_t>(to));
      to += end - from;
    }
    from = end;
  }
  text.resize(to);
}

}  // namespace gyre::http
