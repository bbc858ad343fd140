// gyre/client/client_error.hpp: the errors of an HTTP client.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/io_error.hpp>

#include <string_view>
#include <system_error>

namespace gyre::http {

enum class client_errc : int {
  no_response = 1,      ///< the server has closed the connection before it answered
  cut_off,              ///< the connection ended within the response, so a part of it is missing
  bad_response,         ///< the response is malformed
  body_too_large,       ///< the body of the response is larger than the limit
  too_many_interim,     ///< too many interim responses (1xx)
  unexpected_switch,    ///< the server switches to a protocol that was not asked for
  wrong_body_length,    ///< the source of the request's body gave more or fewer bytes than announced
  no_repeatable_body,   ///< the request would have to be sent again, and its body cannot be read twice
  too_many_redirects,   ///< more redirects than the policy allows
  bad_redirect,         ///< the server redirects to something that is no URL, or that the policy forbids
  bad_coding,           ///< the compressed body is malformed, or in a coding that this client does not know
  decompression_limit,  ///< the body is too large once decompressed, or expands too much
  proxy_refused,        ///< the proxy has refused the connection
  client_closed,        ///< the client was closed while this request was running
  circuit_open,         ///< the server has failed too often, and has a pause; see circuit_breaker
};

GYRE_API const std::error_category& client_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(client_errc e) noexcept {
  return {static_cast<int>(e), client_category()};
}

/// An io_error with the reason: "GET http://a.test/: the response is malformed: a line does not end with CR LF".
class GYRE_API client_error : public io_error {
 public:
  /// `operation` is the method of the request, `object` its URL; `reason` may be empty.
  client_error(client_errc code, std::string_view operation, std::string_view object, std::string_view reason = {});
  ~client_error() override;
  [[nodiscard]] const char* what() const noexcept override { return text_.what(); }

 private:
  std::runtime_error text_;  // copied without an allocation
};

}  // namespace gyre::http

template <>
struct std::is_error_code_enum<gyre::http::client_errc> : std::true_type {};
