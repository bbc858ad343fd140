// gyre/client/client.hpp: sends requests to HTTP servers, and keeps connections for the next ones.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/client_error.hpp>
#include <gyre/client/client_middleware.hpp>
#include <gyre/client/client_options.hpp>
#include <gyre/client/client_request.hpp>
#include <gyre/client/client_response.hpp>
#include <gyre/client/cookie_jar.hpp>
#include <gyre/client/url.hpp>
#include <gyre/coro/owned.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre::http {

class client_state;

/// The connections of a client at this moment, and totals so far.
struct client_counts {
  std::size_t idle = 0;
  std::size_t in_use = 0;
  std::size_t waiting = 0;    ///< requests that wait for a connection
  std::uint64_t opened = 0;   ///< connections, so far
  std::uint64_t retried = 0;  ///< requests that were sent again, so far
};

/// An HTTP/1.1 client with a pool of connections for each origin.
///
///   gyre::http::client client({.timeouts = {.total = 5s}});
///   auto response = co_await client.get("https://example.org/");
///   std::string text = co_await response.read_all();
///
/// The destructor closes the idle connections. Requests and responses that still exist keep the rest alive.
/// Thread: belongs to one loop. Lifetime: must be destroyed before its loop.
class GYRE_API client {
 public:
  client();
  explicit client(client_options options);

  /// Begins a request. Errors: std::invalid_argument when the URL is none, or the method is no token or CONNECT.
  [[nodiscard]] client_request request(std::string_view method, std::string_view url);
  [[nodiscard]] client_request request(std::string_view method, const http::url& url);

  /// Sends a request without a body, and waits for the head of the response.
  ///
  /// Cancel: same as client_request::send. Errors: same; std::invalid_argument, thrown by the call.
  [[nodiscard]] GYRE_CORO_WRAPPER task<client_response> get(std::string_view url) { return request("GET", url).send(); }
  [[nodiscard]] GYRE_CORO_WRAPPER task<client_response> get(const http::url& url) { return request("GET", url).send(); }
  [[nodiscard]] GYRE_CORO_WRAPPER task<client_response> head(std::string_view url) {
    return request("HEAD", url).send();
  }
  /// The same with a body.
  ///
  /// Cancel: same. Errors: same.
  [[nodiscard]] GYRE_CORO_WRAPPER task<client_response> post(std::string_view url, std::string_view body,
                                                             std::string_view media_type) {
    return request("POST", url).body(body, media_type).send();
  }

  /// Adds middleware around all requests. The first one added is outermost. To be called before any request is sent.
  /// Lifetime: the callable lives as long as the client and its requests.
  void use(client_middleware function);

  [[nodiscard]] client_counts counts() const noexcept;
  /// The cookies of this client. Lifetime: until the client is destroyed.
  [[nodiscard]] cookie_jar& cookies() noexcept;
  /// Closes all idle connections.
  void close_idle() noexcept;

 private:
  static void destroy(client_state* state) noexcept;
  owned<client_state*, &destroy> state_;
};

/// The client of this loop, with the default options. It is made when it is first used.
[[nodiscard]] GYRE_API client& default_client();

/// Sends a request with the client of this loop: `auto response = co_await http::get("https://example.org/");`
///
/// Cancel: same as client_request::send. Errors: same as client::get.
[[nodiscard]] GYRE_CORO_WRAPPER inline task<client_response> get(std::string_view url) {
  return default_client().get(url);
}
/// Cancel: same. Errors: same.
[[nodiscard]] GYRE_CORO_WRAPPER inline task<client_response> post(std::string_view url, std::string_view body,
                                                                  std::string_view media_type) {
  return default_client().post(url, body, media_type);
}

}  // namespace gyre::http
