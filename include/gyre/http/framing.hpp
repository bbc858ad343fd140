// gyre/http/framing.hpp: body length and connection handling of a message, from its fields. RFC 9112 §6-9.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/parse_error.hpp>

#include <cstdint>
#include <string_view>

namespace gyre::http {

enum class body_kind : std::uint8_t {
  none,
  sized,  ///< `length` bytes
  chunked,
  until_end,  ///< responses only: up to the end of the connection
};

struct framing {
  body_kind body = body_kind::none;
  std::uint64_t length = 0;       ///< of a sized body, in bytes
  bool keep_alive = true;         ///< the connection may carry another message after this one
  bool expects_continue = false;  ///< Expect: 100-continue; the client waits for 100 before it sends the body
  std::string_view host = {};     ///< the Host field of a request
  /// The protocols that a client would rather speak, or the agreed ones. The last field when there are several.
  std::string_view upgrade = {};
  bool several_upgrades = false;  ///< there are several Upgrade fields; their values form one list, RFC 9110 §5.3
};

/// Interprets the complete head of a request. Anything that two recipients could understand differently is an error:
/// RFC 9112 §6.3 and §11.2.
/// Lifetime: the views point into the head.
[[nodiscard]] GYRE_API parse_error understand_request(const head_parser& head, framing& out) noexcept;

/// Interprets the complete head of a response to a request with this method.
[[nodiscard]] GYRE_API parse_error understand_response(const head_parser& head, std::string_view request_method,
                                                       framing& out) noexcept;

/// Parses 1*DIGIT, the syntax of Content-Length: no sign, no white space, less than 2^63. RFC 9110 §8.6.
[[nodiscard]] GYRE_API bool parse_length(std::string_view text, std::uint64_t& out) noexcept;

}  // namespace gyre::http
