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

/// Knows the fields of one connection, which are not passed on: those that Connection names, and those of framing.
/// Lifetime: the message must outlive it.
class hop_by_hop_fields {
 public:
  /// Takes the header section of the message.
  explicit hop_by_hop_fields(std::span<const gyre::http::field> all);

  [[nodiscard]] bool contain(std::string_view name) const noexcept;
  /// The same for a name that is none of the fields of framing.
  [[nodiscard]] bool are_named(std::string_view name) const noexcept;

 private:
  std::vector<std::string_view> named_;  // sorted, without regard to case; without those of framing
};

/// True for fields by which proxies describe the client. A client that is not a proxy could lie in them.
[[nodiscard]] bool is_about_client(std::string_view name) noexcept;

/// True for fields of a trailer section that are passed on. A trailer cannot describe the client, either: a server
/// could take it for a field of this proxy.
[[nodiscard]] bool is_trailer_passed_on(std::string_view name, const hop_by_hop_fields& of_message) noexcept;

/// The names of the trailers that the message announces and that are passed on, as a comma-separated list.
[[nodiscard]] std::string trailers_announced(std::span<const gyre::http::field> all,
                                             const hop_by_hop_fields& of_message);

/// Removes the trailers that are not passed on; `header` is the header section of the message.
void keep_trailers_passed_on(std::vector<gyre::http::field>& trailers, std::span<const gyre::http::field> header);

/// The fields of an interim response that are passed on. Lifetime: same as `all`.
[[nodiscard]] std::vector<gyre::http::field> fields_of_hint(std::span<const gyre::http::field> all);

/// How many more proxies may pass this request on; nothing for any number. RFC 9110 §7.6.2.
[[nodiscard]] std::optional<std::uint64_t> hops_left(const gyre::http::request& request);

/// The protocols that the client would rather speak, without HTTP/2: its requests would pass unseen, and so around the
/// rules of this proxy.
[[nodiscard]] std::string protocols_passed_on(const gyre::http::request& request);

/// How a proxy describes the client to the server behind it.
struct client_description {
  std::string_view host;   // the address; empty for none
  bool encrypted = false;  // the client has used https
  bool trusted = false;    // the client is a proxy: what it says about its client is passed on
};

/// Memory for the values of the fields that forward_fields() writes. Used again, it allocates nothing.
struct forwarded_texts {
  std::string via;
  // A trusted client describes its own client by these.
  std::string addresses;
  std::string proto;
  std::string host;
  std::string elements;

  void clear() noexcept {
    for (std::string* const each : {&via, &addresses, &proto, &host, &elements}) each->clear();
  }
};

/// Adds the fields for the server behind the proxy: the client's own, X-Forwarded-For, -Proto and -Host, Forwarded
/// (RFC 7239) and Via. `dropped` was made from the fields of the request.
void forward_fields(const gyre::http::request& from, const hop_by_hop_fields& dropped, const client_description& client,
                    gyre::http::client_request& to, forwarded_texts& texts);

}  // namespace programs
