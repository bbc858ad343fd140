// src/http/semantics/parameters.hpp: the parameters after a value, "; q=0.5; title=\"a, b\"". RFC 9110 §5.6.6.
#pragma once

#include <string>
#include <string_view>

namespace gyre::http {

struct parameter_text {
  std::string_view name;
  std::string_view value;  ///< as sent, with quotes if it has any
};

enum class parameter_step { found, end, malformed };

/// Takes the next parameter off `rest`, which must begin at a semicolon, white space or the
/// end. Empty parameters are skipped.
parameter_step next_parameter(std::string_view& rest, parameter_text& out) noexcept;

/// Returns the meaning of a value from next_parameter, without quotes and backslashes.
std::string unquote(std::string_view value);
/// True if two such values have the same meaning, ignoring the case of ASCII letters.
bool same_meaning(std::string_view a, std::string_view b) noexcept;

}  // namespace gyre::http
