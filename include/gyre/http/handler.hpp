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
class started_response {
 public:
  started_response(response made) noexcept : now_(std::move(made)) {}            // NOLINT(google-explicit-constructor)
  started_response(task<response> later) noexcept : later_(std::move(later)) {}  // NOLINT(google-explicit-constructor)

  /// The response that is already there, or null.
  [[nodiscard]] response* now() noexcept { return now_ ? &*now_ : nullptr; }
  /// The response in either case. Cancel: as the handler does. Errors: whatever it throws.
  [[nodiscard]] GYRE_CORO_WRAPPER task<response> wait() && {
    if (later_) return *std::move(later_);
    return give(std::move(*now()));
  }

 private:
  static task<response> give(response made) { co_return made; }
  std::optional<response> now_;  // one of them has a value
  std::optional<task<response>> later_;
};

/// Base of handlers whose response is often there at once: `class router : public prompt_handler<router>`. For authors
/// of handlers. The derived class has a function `started_response start(request&)`. Servers call it, and need no
/// coroutine for a response that is there. Without this base, a member named `start` is never called.
template <class Derived>
class prompt_handler {
 public:
  /// Starts the handler at the call, and waits for its response.
  ///
  /// Lifetime: this and the request outlive the await. Cancel: as the handler does. Errors: whatever it throws.
  [[nodiscard]] GYRE_CORO_WRAPPER task<response> operator()(request& r) {
    return static_cast<Derived&>(*this).start(r).wait();
  }
  /// The same, if `start` is const. Cancel: as above.
  [[nodiscard]] GYRE_CORO_WRAPPER task<response> operator()(request& r) const
    requires requires(const Derived& d) { d.start(r); }
  {
    return static_cast<const Derived&>(*this).start(r).wait();
  }
};

/// Owns a callable that answers requests: a function, a lambda, a router. The callable outlives every request that it
/// answers.
///
/// Thread: several loops may call it at the same time if the callable allows that. Empty when moved from, or when made
/// from a null function pointer or an empty std::function. Calling an empty handler stops the program with a message.
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
  /// Answers a request: starts at the call, and waits for the response.
  ///
  /// Lifetime: the request outlives the await. Cancel: as the callable does. Errors: whatever it throws.
  [[nodiscard]] GYRE_CORO_WRAPPER task<response> operator()(request& r) { return start(r).wait(); }
  /// Starts to answer a request. Waits for nothing.
  /// Lifetime: the request outlives the result. Errors: whatever the callable throws before it waits for something.
  [[nodiscard]] started_response start(request& r) { return called().start(r); }

  [[nodiscard]] explicit operator bool() const noexcept { return model_ != nullptr; }
  /// The line of the program that made this handler, such as `routes.get("/", f)`. Failure reports name it.
  [[nodiscard]] const std::source_location& made_at() const noexcept { return made_at_; }

 private:
  struct interface {
    virtual ~interface() = default;
    virtual started_response start(request& r) = 0;
  };
  template <class F>
  struct model final : interface {
    explicit model(F&& f) : function(std::move(f)) {}
    started_response start(request& r) override {
      if constexpr (requires { []<class D>(prompt_handler<D>&) {}(function); })
        return function.start(r);
      else
        return function(r);
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
