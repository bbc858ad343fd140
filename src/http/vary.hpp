// src/http/vary.hpp: says what a response depends on. RFC 9110 §12.5.5.
#pragma once

#include <gyre/http/field.hpp>
#include <gyre/http/response.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

/// Whether a list such as the value of Vary or Cache-Control names `wanted`.
inline bool lists(std::string_view list, std::string_view wanted) noexcept {
  for (std::string_view each = next_in_list(list); !each.empty(); each = next_in_list(list))
    if (equal_ignoring_case(each, wanted)) return true;
  return false;
}

/// Adds to Vary what is not there yet.
inline void add_vary(response& to, std::string_view name) {
  const std::optional<std::string_view> there = to.field("Vary");
  if (!there) {
    to.add_field("Vary", name);
  } else if (!lists(*there, name) && !lists(*there, "*")) {
    to.add_field("Vary", name);
  }
}

}  // namespace gyre::http
