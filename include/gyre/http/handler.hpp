// gyre/http/handler.hpp: a type-erased callable that answers requests.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

#include <concepts>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre::http {

/// Callable with a request&; returns a task<response>, or a response when it need not wait for anything.
template <class F>
concept request_function = requires(F& f, request& r) {
  { f(r) } -> std::same_as<task<response>>;
} || requires(F& f, request& r) {
  { f(r) } -> std::same_as<response>;
};

/// The result of starting a handler: the response if it is already there, otherwise the task that produces it.
struct started_response {
  std::optional<response> now = {};
  std::optional<task<response>> later = {};
};

/// Owns a callable that answers requests: a function, a lambda, a router. The callable outlives every request that it
/// answers.
///
/// Thread: one loop's at a time. Empty when moved from, or when made from a null function pointer or an empty
/// std::function. Calling an empty handler stops the program with a message.
class handler {
 public:
  handler() noexcept = default;
  template <request_function F>
    requires(!std::same_as<std::remove_cvref_t<F>, handler>)
  // NOLINTNEXTLINE(google-explicit-constructor): routes.get("/", f)
  handler(F f, std::source_location made_at = std::source_location::current())
      : model_(calls_nothing(f) ? nullptr : new model<F>(std::move(f))), made_at_(made_at) {}
  /// Rejects types that cannot answer a request.
  template <class F>
    requires(!request_function<F> && !std::same_as<std::remove_cvref_t<F>, handler>)
  handler(F /*function*/) {  // NOLINT(google-explicit-constructor)
    static_assert(misused<F>, "a handler is called with a http::request&, and returns a task<response> or a response");
  }
  /// Answers a request.
  ///
  /// Lifetime: the request outlives the await. Cancel: as the callable does. Errors: whatever it throws.
  [[nodiscard]] GYRE_CORO_WRAPPER task<response> operator()(request& r) { return called().call(r); }

  /// The same for servers. Avoids the coroutine when there is nothing to wait for.
  /// Lifetime: the request outlives the task. Errors: whatever the callable throws.
  [[nodiscard]] started_response start(request& r) { return called().start(r); }

  [[nodiscard]] explicit operator bool() const noexcept { return model_ != nullptr; }
  /// The line of the program that made this handler, such as `routes.get("/", f)`. Failure reports name it.
  [[nodiscard]] const std::source_location& made_at() const noexcept { return made_at_; }

 private:
  struct interface {
    virtual ~interface() = default;
    virtual task<response> call(request& r) = 0;
    virtual started_response start(request& r) = 0;
  };
  template <class F>
  struct model final : interface {
    explicit model(F&& f) : function(std::move(f)) {}
    GYRE_CORO_WRAPPER task<response> call(request& r) override {
      if constexpr (std::same_as<std::invoke_result_t<F&, request&>, response>)
        return call_now(r);
      else
        return function(r);
    }
    task<response> call_now(request& r) { co_return function(r); }
    started_response start(request& r) override {
      started_response started;
      if constexpr (std::same_as<std::invoke_result_t<F&, request&>, response>)
        started.now.emplace(function(r));
      else if constexpr (requires { function.start(r); })  // a router, whose answer may be there at once
        started = function.start(r);
      else
        started.later.emplace(function(r));
      return started;
    }
    F function;
  };

  template <class F>
  static bool calls_nothing(const F& f) noexcept {
    if constexpr (std::is_pointer_v<F> || requires {
                    f.operator bool();
                    f == nullptr;
                  })
      return f == nullptr;
    else
      return false;
  }
  [[nodiscard]] interface& called() const noexcept {
    if (model_ == nullptr) [[unlikely]]
      misuse("an http::handler was called that is empty or was moved from: give it a function");
    return *model_;
  }

  owned<interface*, delete_target> model_;
  std::source_location made_at_;
};

}  // namespace gyre::http
