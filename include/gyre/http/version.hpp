// gyre/http/version.hpp: the version of HTTP that a client speaks.
#pragma once

#include <cstdint>
#include <string_view>

namespace gyre::http {

enum class version : std::uint8_t {
  http_1_0,
  http_1_1,
};

/// "HTTP/1.1", as access logs and CGI name it. A version without a name here does not compile.
[[nodiscard]] constexpr std::string_view name_of(version v) noexcept {
  switch (v) {
    case version::http_1_0:
      return "HTTP/1.0";
    case version::http_1_1:
      return "HTTP/1.1";
  }
  return "HTTP";  // not reached
}
/// The same without "HTTP/", as Via has it.
[[nodiscard]] constexpr std::string_view number_of(version v) noexcept { return name_of(v).substr(5); }

}  // namespace gyre::http
