// gyre/client/bearer_tokens.hpp: tokens that expire. RFC 6750.
#pragma once

#include <gyre/client/client_middleware.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/loop/owner_loop.hpp>
#include <gyre/sync/mutex.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

namespace gyre::http {

/// `f()` returns a task with a new token.
template <class F>
concept token_function = requires(F& f) {
  { f() } -> std::same_as<task<std::string>>;
};

template <token_function F>
class bearer_tokens_of {
 public:
  bearer_tokens_of(std::string origin, F get) : state_(new state(std::move(origin), std::move(get))) {}

  task<client_response> operator()(client_request request, next_sender next) {
    state& own = *state_;
    own.owner.expect_own("a request");
    if (request.url().origin() != own.origin || request.has_header("Authorization"))
      co_return co_await next(std::move(request));
    if (own.uses == 0) co_await own.renew(0);
    const std::uint64_t used = own.uses;
    request.bearer_token(own.token);
    if (request.has_streamed_body()) co_return co_await next(std::move(request));
    client_request again = request.copy();
    {
      auto sending = next(std::move(request));
      client_response response = co_await std::move(sending);
      if (response.status() != 401) co_return response;
    }
    co_await own.renew(used);
    again.bearer_token(own.token);
    co_return co_await next(std::move(again));
  }

 private:
  struct state {
    state(std::string of, F&& function) : origin(std::move(of)), get(std::move(function)) {}
    /// Gets a token, unless another request has replaced the one that was used. Cancel: the old one remains.
    task<> renew(std::uint64_t used) {
      const mutex_guard guard = co_await renewing.scoped_lock();
      if (uses != used) co_return;
      auto getting = get();
      token = co_await std::move(getting);
      ++uses;
    }

    std::string origin;
    F get;
    owner_loop_of<"bearer_tokens"> owner;
    mutex renewing;
    std::string token;
    std::uint64_t uses = 0;  // tokens so far
  };

  owned<state*, delete_target> state_;
};

/// Sends a token with the requests to one origin ("https://api.test"), and gets a new one when the server answers 401:
/// then the request is sent once more. Requests that meet at an old token wait for one new token together. A request
/// with an Authorization field of the program gets no other. One whose body is made while it is sent is not repeated.
///
/// Errors of the requests: those of `get`. Thread: for the clients of one loop.
template <token_function F>
[[nodiscard]] client_middleware bearer_tokens(std::string origin, F get) {
  return bearer_tokens_of<F>(std::move(origin), std::move(get));
}

}  // namespace gyre::http
