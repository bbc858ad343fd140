// gyre/http/request_id.hpp: a number for each request, for logs and for those who ask about them.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/middleware.hpp>

#include <string>
#include <string_view>

namespace gyre::http {

struct request_id_options {
  std::string field = "X-Request-Id";
  /// Takes the number that the request brings, if it is_request_id: only behind a proxy that sets or checks it, since others
  /// could make their requests look like those of somebody else.
  bool trust_client = false;
};

/// 32 hexadecimal digits that cannot be guessed. Errors: std::system_error when the kernel gives no random bits.
[[nodiscard]] GYRE_API std::string make_request_id();
/// Up to 128 letters, digits and "-._~+/=:@": what can do no harm in a log.
[[nodiscard]] GYRE_API bool is_request_id(std::string_view text) noexcept;

/// Gives each request a number: its attribute "request_id", and a field of the response. An exception other than
/// status_error becomes 500 without that field. Errors: std::invalid_argument for a field whose name is no token.
[[nodiscard]] GYRE_API middleware request_id(request_id_options options = {});

}  // namespace gyre::http
