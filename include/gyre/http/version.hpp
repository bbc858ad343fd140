// gyre/http/version.hpp: the version of HTTP that a client speaks.
#pragma once

#include <cstdint>
#include <string_view>

namespace gyre::http {

enum class version : std::uint8_t {
  http_1_0,
  http_1_1,
};

/// "HTTP/1.1", as access logs and CGI name it.
[[nodiscard]] constexpr std::string_view name_of(version v) noexcept {
  return v == version::http_1_0 ? "HTTP/1.0" : "HTTP/1.1";
}

}  // namespace gyre::http
