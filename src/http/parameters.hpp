// src/http/parameters.hpp: the parameters behind a value, "; q=0.5; title=\"a, b\"". RFC 9110 §5.6.6.
#pragma once

#include <string>
#include <string_view>

namespace gyre::http {

struct parameter_text {
  std::string_view name;
  std::string_view value;  ///< as sent, with its quotes if it has some
};

enum class parameter_step { found, end, malformed };

/// Takes the next parameter off `rest`, which begins where a semicolon, white space or the end is expected. Empty ones are
/// skipped.
parameter_step next_parameter(std::string_view& rest, parameter_text& out) noexcept;

/// Of a value that next_parameter gave: what it means, without quotes and backslashes.
std::string unquote(std::string_view value);
/// Whether two of them mean the same but for the case of ASCII letters.
bool same_meaning(std::string_view a, std::string_view b) noexcept;

}  // namespace gyre::http
