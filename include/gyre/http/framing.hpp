// gyre/http/framing.hpp: what the fields of a message say about its body and its connection. RFC 9112 §6-9.
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
  until_end,  ///< of a response: to the end of the connection
};

struct framing {
  body_kind body = body_kind::none;
  std::uint64_t length = 0;       ///< of a sized body
  bool keep_alive = true;         ///< the connection may carry another message after this one
  bool expects_continue = false;  ///< Expect: 100-continue; the client waits for 100 before it sends the body
  std::string_view host = {};     ///< of a request, from its Host field
  /// The protocols that a client would rather speak, or those agreed on; of the last field when there are several.
  std::string_view upgrade = {};
  bool several_upgrades = false;  ///< there are several such fields: their values are one list, RFC 9110 §5.3
};

/// Of a request whose head is complete. Everything that two recipients could understand in two ways is an error: RFC 9112
/// §6.3 and §11.2.
/// Lifetime: the views lie where the head does.
[[nodiscard]] GYRE_API parse_error understand_request(const head_parser& head, framing& out) noexcept;

/// Of a response to a request with this method.
[[nodiscard]] GYRE_API parse_error understand_response(const head_parser& head, std::string_view request_method,
                                                       framing& out) noexcept;

/// 1*DIGIT, as Content-Length has it: no sign, no white space, less than 2^63. RFC 9110 §8.6.
[[nodiscard]] GYRE_API bool parse_length(std::string_view text, std::uint64_t& out) noexcept;

}  // namespace gyre::http
