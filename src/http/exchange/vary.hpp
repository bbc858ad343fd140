// src/http/exchange/vary.hpp: lists in response fields, and the Vary field. RFC 9110 §12.5.5.
#pragma once

#include <gyre/http/field.hpp>
#include <gyre/http/response.hpp>

#include "response_state.hpp"

#include <string_view>

namespace gyre::http {

/// True if a field with that name lists `wanted`.
inline bool lists(const response& r, std::string_view name, std::string_view wanted) noexcept {
  std::string_view lines = r.state().fields;
  while (!lines.empty()) {
    std::string_view line = lines.substr(0, lines.find('\r'));
    lines.remove_prefix(line.size() + 2);
    if (line.size() <= name.size() || line[name.size()] != ':') continue;
    if (!equal_ignoring_case(line.substr(0, name.size()), name)) continue;
    line.remove_prefix(name.size() + 1);
    for (std::string_view each = next_in_list(line); !each.empty(); each = next_in_list(line))
      if (equal_ignoring_case(each, wanted)) return true;
  }
  return false;
}

/// Adds `name` to Vary unless it is there already.
inline void add_vary(response& to, std::string_view name) {
  if (!lists(to, "Vary", name) && !lists(to, "Vary", "*")) to.add_field("Vary", name);
}

}  // namespace gyre::http
