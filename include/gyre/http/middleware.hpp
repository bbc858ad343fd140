// gyre/http/middleware.hpp: functions around handlers that see the request first and the response last.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/coro/shared.hpp>
#include <gyre/http/handler.hpp>

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace gyre::http {

class middleware;

/// The rest of the chain up to the handler. Middleware calls it: `response r = co_await next(request);`
class GYRE_API next_handler {
 public:
  next_handler(const middleware* const* around, std::size_t left, handler& last) noexcept
      : around_(around), left_(left), last_(&last) {}

  /// Passes the request on and returns the response. Cancel: as the rest of the chain does. Errors: whatever it throws.
  [[nodiscard]] GYRE_CORO_WRAPPER task<response> operator()(request& r) const;

  /// The same, for middleware whose fields belong on every answer. Exceptions of the rest of the chain become answers
  /// here. A status_error becomes its response. Any other exception is reported to the loop's exception handler and
  /// becomes 500. Middleware that turns exceptions into answers belongs further inside.
  ///
  /// Cancel: as the rest of the chain does. Errors: those that no answer can reach any more, because the client left in
  /// the middle of its body.
  [[nodiscard]] task<response> or_error(request& r) const;

 private:
  const middleware* const* around_;
  std::size_t left_;
  handler* last_;
};

/// Callable with a request& and a next_handler; returns a task<response>.
template <class F>
concept middleware_function = requires(F& f, request& r, next_handler next) {
  { f(r, next) } -> std::same_as<task<response>>;
};

/// Owns such a callable. The callable outlives every request that passes through it. Copies share it.
/// Thread: any for copies. Several loops may call it at the same time if the callable allows that, as the library's
/// middleware does.
class middleware {
 public:
  template <middleware_function F>
    requires(!std::same_as<F, middleware>)
  middleware(F f) : model_(new model<F>(std::move(f))) {}  // NOLINT(google-explicit-constructor): routes.use(f)
  /// Rejects functions that cannot be part of a chain.
  template <class F>
    requires(!middleware_function<F> && !std::same_as<F, middleware>)
  middleware(F /*function*/) {  // NOLINT(google-explicit-constructor)
    static_assert(misused<F>,
                  "middleware is called with a http::request& and a next_handler, and returns a task<response>");
  }

  /// Answers the request, directly or through `next`. Cancel: as the callable does. Errors: whatever it throws.
  [[nodiscard]] GYRE_CORO_WRAPPER task<response> operator()(request& r, next_handler next) const {
    return model_->call(r, next);
  }

 private:
  struct interface : shared_target {
    virtual task<response> call(request& r, next_handler next) = 0;
  };
  template <class F>
  struct model final : interface {
    explicit model(F&& f) : function(std::move(f)) {}
    GYRE_CORO_WRAPPER task<response> call(request& r, next_handler next) override { return function(r, next); }
    F function;
  };

  shared<interface> model_;
};

}  // namespace gyre::http
