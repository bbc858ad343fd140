// programs/gyre/proxy/forwarded_fields.hpp: which fields of a message a proxy passes on. RFC 9110 §7.6.
#pragma once

#include <gyre/client/client_request.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/request.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace programs {

/// True for fields of one connection, which are not passed on: those that Connection names, and those of framing.
[[nodiscard]] bool is_hop_by_hop(std::string_view name, std::span<const gyre::http::field> all);

/// True for fields by which proxies describe the client. A client that is not a proxy could lie in them.
[[nodiscard]] bool is_about_client(std::string_view name);

/// True for fields of a trailer section that are passed on; `all` is the header section of the message. A trailer
/// cannot describe the client, either: a server could take it for a field of this proxy.
[[nodiscard]] bool is_trailer_passed_on(std::string_view name, std::span<const gyre::http::field> all);

/// The names of the trailers that the message announces and that are passed on, as a comma-separated list.
[[nodiscard]] std::string trailers_announced(std::span<const gyre::http::field> all);

/// True when the client reads trailers. RFC 9110 §10.1.4.
[[nodiscard]] bool takes_trailers(const gyre::http::request& request);

/// The fields of an interim response that are passed on. Lifetime: same as `all`.
[[nodiscard]] std::vector<gyre::http::field> fields_of_hint(std::span<const gyre::http::field> all);

/// How many more proxies may pass this request on; nothing for any number. RFC 9110 §7.6.2.
[[nodiscard]] std::optional<std::uint64_t> hops_left(const gyre::http::request& request);

/// The protocols that the client would rather speak, without HTTP/2: its requests would pass unseen, and so around the
/// rules of this proxy.
[[nodiscard]] std::string protocols_passed_on(const gyre::http::request& request);

/// How a proxy describes the client to the server behind it.
struct client_description {
  std::string host;        // the address; empty for none
  bool encrypted = false;  // the client has used https
  bool trusted = false;    // the client is a proxy: what it says about its client is passed on
};

/// Adds the fields for the server behind the proxy: the client's own, X-Forwarded-For, -Proto and -Host, Forwarded
/// (RFC 7239) and Via.
void forward_fields(const gyre::http::request& from, const client_description& client, gyre::http::client_request& to);

}  // namespace programs
