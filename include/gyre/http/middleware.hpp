// gyre/http/middleware.hpp: what stands around handlers: sees the request before them and the response after them.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/http/handler.hpp>

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace gyre::http {

class middleware;

/// The rest of the way to the handler. For middleware: `response r = co_await next(request);`
class GYRE_API next_handler {
 public:
  next_handler(const middleware* const* around, std::size_t left, handler& last) noexcept
      : around_(around), left_(left), last_(&last) {}

  /// Answers the request by what is further inside. Cancel: as that does. Errors: what that throws.
  [[nodiscard]] GYRE_CORO_WRAPPER task<response> operator()(request& r) const;

  /// The same, for middleware whose fields belong on every answer: what fails further inside is answered here, a status_error
  /// with its response, any other exception with 500 after it was reported to the loop's exception handler. What is to make
  /// answers of exceptions stands further inside.
  ///
  /// Cancel: as that does. Errors: those for which nobody waits any more: the client left in the middle of its body.
  [[nodiscard]] task<response> or_error(request& r) const;

 private:
  const middleware* const* around_;
  std::size_t left_;
  handler* last_;
};

/// Callable with a request& and a next_handler; gives a task<response>.
template <class F>
concept middleware_function = requires(F& f, request& r, next_handler next) {
  { f(r, next) } -> std::same_as<task<response>>;
};

/// Owns such a callable, which outlives every request that passes it. Copies share it.
/// Thread: one loop's at a time.
class middleware {
 public:
  template <middleware_function F>
    requires(!std::same_as<F, middleware>)
  middleware(F f) : model_(new model<F>(std::move(f))) {}  // NOLINT(google-explicit-constructor): routes.use(f)
  /// Refuses what cannot be part of a chain.
  template <class F>
    requires(!middleware_function<F> && !std::same_as<F, middleware>)
  middleware(F /*function*/) {  // NOLINT(google-explicit-constructor)
    static_assert(misused<F>,
                  "middleware is called with a http::request& and a next_handler, and returns a task<response>");
  }
  middleware(const middleware& other) noexcept : model_(other.model_) { ++model_->owners; }
  middleware(middleware&& other) noexcept : model_(std::exchange(other.model_, nullptr)) {}
  middleware& operator=(middleware other) noexcept {
    std::swap(model_, other.model_);
    return *this;
  }
  ~middleware() {
    if (model_ != nullptr && --model_->owners == 0) delete model_;
  }

  /// Answers the request, by itself or through `next`. Cancel: as the callable does. Errors: what it throws.
  [[nodiscard]] GYRE_CORO_WRAPPER task<response> operator()(request& r, next_handler next) const {
    return model_->call(r, next);
  }

 private:
  struct interface {
    virtual ~interface() = default;
    virtual task<response> call(request& r, next_handler next) = 0;
    std::size_t owners = 1;
  };
  template <class F>
  struct model final : interface {
    explicit model(F&& f) : function(std::move(f)) {}
    GYRE_CORO_WRAPPER task<response> call(request& r, next_handler next) override { return function(r, next); }
    F function;
  };

  interface* model_;
};

}  // namespace gyre::http
