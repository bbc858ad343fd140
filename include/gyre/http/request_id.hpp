// gyre/http/request_id.hpp: gives each request an ID, for logs and for questions about them.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/middleware.hpp>

#include <string>
#include <string_view>

namespace gyre::http {

struct request_id_options {
  std::string field = "X-Request-Id";
  /// Accepts the ID that the request brings, if it is_request_id. Set this only behind a proxy that sets or checks the
  /// ID. Otherwise a client could make its requests look like those of somebody else.
  bool trust_client = false;
};

/// 32 hexadecimal digits that cannot be guessed. Errors: std::system_error when the kernel returns no random bits.
[[nodiscard]] GYRE_API std::string make_request_id();
/// Whether `text` is up to 128 letters, digits and "-._~+/=:@", which can do no harm in a log.
[[nodiscard]] GYRE_API bool is_request_id(std::string_view text) noexcept;

/// Gives each request an ID: its attribute "request_id", and a field of the response. An exception other than
/// status_error becomes 500 without that field. Errors: std::invalid_argument for a field whose name is not a token.
[[nodiscard]] GYRE_API middleware request_id(request_id_options options = {});

}  // namespace gyre::http
