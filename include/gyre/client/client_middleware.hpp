// gyre/client/client_middleware.hpp: functions around the requests of a client.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/client_request.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/shared.hpp>
#include <gyre/coro/task.hpp>

#include <concepts>
#include <cstddef>
#include <utility>

namespace gyre::http {

/// The rest of the chain up to the server. Middleware calls it: `co_await next(std::move(request))`.
class GYRE_API next_sender {
 public:
  explicit next_sender(std::size_t index) noexcept : index_(index) {}

  /// Sends the request, through the further middleware of its client, and waits for the head of the response. It may be
  /// called again with another request, such as a copy of this one. Cancel, errors: same as client_request::send.
  [[nodiscard]] GYRE_CORO_WRAPPER task<client_response> operator()(client_request request) const {
    return std::move(request).send_after(index_);
  }

 private:
  std::size_t index_;
};

/// Callable with a client_request and a next_sender; returns a task<client_response>.
template <class F>
concept client_middleware_function = requires(F& f, client_request request, next_sender next) {
  { f(std::move(request), next) } -> std::same_as<task<client_response>>;
};

/// Owns such a callable, which outlives every request that passes through it. Copies share it. It sees each request
/// once, with all of its redirects and retries.
///
///   client.use([](http::client_request request, http::next_sender next) -> gyre::task<http::client_response> {
///     request.header("X-Team", "blue");
///     co_return co_await next(std::move(request));
///   });
class client_middleware {
 public:
  template <client_middleware_function F>
    requires(!std::same_as<F, client_middleware>)
  client_middleware(F f)  // NOLINT(google-explicit-constructor): client.use(f)
      : shared_(new model<F>(std::move(f))) {}
  /// Rejects functions that cannot be part of a chain.
  template <class F>
    requires(!client_middleware_function<F> && !std::same_as<F, client_middleware>)
  client_middleware(F /*function*/) {  // NOLINT(google-explicit-constructor)
    static_assert(misused<F>,
                  "middleware of a client is called with a http::client_request and a http::next_sender, and returns a "
                  "task<client_response>");
  }

  /// Cancel: as the callable does. Errors: whatever it throws.
  [[nodiscard]] GYRE_CORO_WRAPPER task<client_response> operator()(client_request request, next_sender next) const {
    return shared_->call(std::move(request), next);
  }

 private:
  struct interface : shared_target {
    virtual task<client_response> call(client_request request, next_sender next) = 0;
  };
  template <class F>
  struct model final : interface {
    explicit model(F&& f) : function(std::move(f)) {}
    GYRE_CORO_WRAPPER task<client_response> call(client_request request, next_sender next) override {
      return function(std::move(request), next);
    }
    F function;
  };

  shared<interface> shared_;
};

}  // namespace gyre::http
