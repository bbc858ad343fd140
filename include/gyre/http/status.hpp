// gyre/http/status.hpp: status codes and their reason phrases. RFC 9110 §15.
#pragma once

#include <gyre/attributes.hpp>

#include <string_view>

namespace gyre::http {

/// "Not Found" for 404. For an unregistered code, the name of its class: "Client Error".
[[nodiscard]] GYRE_API std::string_view reason_phrase(int status) noexcept;

/// Whether a response with this status never has a body: 1xx, 204, 304. RFC 9112 §6.3.
[[nodiscard]] constexpr bool is_bodyless(int status) noexcept { return status < 200 || status == 204 || status == 304; }

}  // namespace gyre::http
