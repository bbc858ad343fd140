// gyre/http/route_factory.hpp: makes the routes of each loop.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/http/handler.hpp>

#include <concepts>
#include <utility>

namespace gyre::http {

/// Owns a function that returns a handler, such as a router. A server on several loops calls it once on each of them,
/// so that the handlers of one loop share nothing with those of another.
///
/// Thread: any; several loops may call it at the same time. The handler belongs to the loop that called.
class route_factory {
 public:
  route_factory() noexcept = default;
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, route_factory>) && requires(const F& f) {
      { f() } -> std::convertible_to<handler>;
    }
  // NOLINTNEXTLINE(google-explicit-constructor): .make_routes = [] { … }
  route_factory(F make) : model_(new model<F>(std::move(make))) {}

  /// Errors: whatever the function throws.
  [[nodiscard]] handler operator()() const { return model_->make(); }
  [[nodiscard]] explicit operator bool() const noexcept { return model_ != nullptr; }

 private:
  struct interface {
    virtual ~interface() = default;
    [[nodiscard]] virtual handler make() const = 0;
  };
  template <class F>
  struct model final : interface {
    explicit model(F&& f) : function(std::move(f)) {}
    [[nodiscard]] handler make() const override { return handler(function()); }
    F function;
  };

  owned<interface*, delete_target> model_;
};

}  // namespace gyre::http
