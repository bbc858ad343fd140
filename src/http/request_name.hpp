// src/http/request_name.hpp: a request as logs name it.
#pragma once

#include <gyre/http/request.hpp>

#include <cstddef>
#include <string>

namespace gyre::http {

/// "GET /path". There are no control characters in either.
inline std::string name_of(const request& r) {
  constexpr std::size_t longest = 200;
  std::string text(r.method().substr(0, longest));
  return text.append(" ").append(r.target().substr(0, longest));
}

}  // namespace gyre::http
