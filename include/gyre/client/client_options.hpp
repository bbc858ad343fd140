// gyre/client/client_options.hpp: limits, time-outs and policies of a client.
#pragma once

#include <gyre/client/connector.hpp>
#include <gyre/client/proxy_options.hpp>
#include <gyre/client/shared_retry_budget.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/net/happy_eyeballs.hpp>
#include <gyre/net/resolver.hpp>
#include <gyre/tls/client_config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gyre::http {

/// One limit for each phase of a request. std::chrono::nanoseconds::max() means no limit. The exception timed_out names
/// the phase. A time-out around the request, or of the calling task, applies as well.
struct client_timeouts {
  /// For a connection, while the origin has as many as are allowed.
  std::chrono::nanoseconds queue = std::chrono::seconds(30);
  /// For resolving the name and connecting, all addresses together.
  std::chrono::nanoseconds connect = std::chrono::seconds(10);
  std::chrono::nanoseconds tls = std::chrono::seconds(10);
  /// From the end of the request to the end of the response's head.
  std::chrono::nanoseconds first_byte = std::chrono::seconds(60);
  /// Without a byte of the response's body, or without progress of the request's body.
  std::chrono::nanoseconds between_bytes = std::chrono::seconds(60);
  /// For "100 Continue". After that the body is sent without it.
  std::chrono::nanoseconds expect = std::chrono::seconds(1);
  /// From send() to the end of the response's body: redirects, retries and the waits between them included.
  std::chrono::nanoseconds total = std::chrono::nanoseconds::max();
};

struct client_limits {
  head_limits head = {};  ///< of responses: 100 fields and 32 KiB, where curl accepts 5,000 and 300 KiB
  std::uint64_t body = std::uint64_t{16} << 20U;         ///< bytes that read_all() and json() accept
  std::uint64_t decompressed = std::uint64_t{1} << 30U;  ///< bytes of a body that arrives compressed
  /// How much larger than its compressed form such a body may be. Not checked for the first MiB.
  std::uint64_t expansion = 250;
  std::size_t connections_per_origin = 64;  ///< further requests wait, in the order of arrival
  std::size_t idle_connections_per_origin = 64;
  std::size_t idle_connections = 256;
  /// For how long an idle connection is kept, or less when the server says so (Keep-Alive).
  std::chrono::nanoseconds idle = std::chrono::seconds(90);
  /// A connection is not reused when it is older, so that a change of the name's addresses takes effect.
  std::chrono::nanoseconds age = std::chrono::minutes(10);
  /// For how long the addresses of a name are used without another lookup, unless none of them works. The system's
  /// resolver tells no time to live. 0 means that every connection looks for itself.
  std::chrono::nanoseconds names = std::chrono::seconds(30);
};

/// Repeats requests that have failed, or that the server could not answer now (429, 502, 503, 504). Only requests that
/// may be sent twice: GET, HEAD, OPTIONS, TRACE, PUT and DELETE, and others with an Idempotency-Key field, if their
/// body can be read twice.
///
/// A request that finds its reused connection closed, and got no byte of a response, is always repeated under the same
/// conditions, without counting: servers close idle connections. RFC 9112 §9.3.1. So is one that gets 408 on a reused
/// connection, which the server was about to close. RFC 9110 §15.5.9.
struct retry_policy {
  unsigned attempts = 1;  ///< all attempts together; 1 means no retry
  /// The wait before the first retry. It doubles each time, and is chosen at random between its half and itself. A
  /// Retry-After field of the response extends it.
  std::chrono::nanoseconds backoff = std::chrono::milliseconds(100);
  std::chrono::nanoseconds max_backoff = std::chrono::seconds(10);
  /// A server that asks for a longer wait in Retry-After is not asked again.
  std::chrono::nanoseconds max_retry_after = std::chrono::seconds(60);
  /// Retries that all requests of this client together may do for each 100 requests, beyond the first 10: a server that
  /// is down is not hit by a multiple of the usual load.
  unsigned budget_percent = 20;
  /// Clients that share one, also of several loops, count their requests and retries together. Must outlive them.
  /// Defaults to null: this client counts alone.
  shared_retry_budget* budget = nullptr;
};

/// Which redirects are followed. A redirect to another origin (scheme, host or port) drops the user name, password,
/// Authorization and Cookie fields of the request, and the client's certificate (tls::client_options::identity). They
/// do not come back when a later redirect leads home.
struct redirect_policy {
  unsigned max = 10;           ///< more is client_errc::too_many_redirects; 0 means that none is followed
  bool to_plain_text = false;  ///< from https to http
};

struct client_options {
  client_timeouts timeouts = {};
  client_limits limits = {};
  retry_policy retries = {};
  redirect_policy redirects = {};
  /// Defaults to no proxy. See proxy_options::from_environment().
  proxy_options proxies = {};
  /// The trusted authorities and further rules for https. Defaults to the authorities of the system. The protocols
  /// should contain nothing but "http/1.1".
  std::optional<tls::client_config> tls = {};
  /// The path or abstract name ("@name") of the Unix socket to which all connections go. Hosts of URLs are then only
  /// names.
  std::string unix_socket = {};
  /// Opens the connections instead of the client. Proxies, Unix sockets, and the options of connecting and resolving
  /// are not used then.
  http::connector connector = {};
  /// The local address, the interface, and the delay between attempts.
  happy_eyeballs_options connecting = {};
  resolve_options resolving = {};
  /// Asks for compressed responses (gzip, deflate, br, zstd, as this library was built with them), and decompresses
  /// them. Not for requests with an Accept-Encoding or a Range field of the program. The fields of the response stay as
  /// they were sent.
  bool decompress = true;
  /// Keeps the cookies of responses, and sends them back. A request with a Cookie field of the program gets no others.
  bool cookies = false;
  /// Empty means that no User-Agent is sent.
  std::string user_agent = "gyre";
  /// The Accept field of requests that have none. Empty means that none is sent.
  std::string accept = "*/*";
};

}  // namespace gyre::http
