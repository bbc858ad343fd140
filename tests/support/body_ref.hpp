// tests/support/body_ref.hpp: a reference to the body of a test.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace gyre_test {

/// Refers to a callable that returns a task<>, as long as that exists. A helper that takes it is compiled once instead
/// of once for each test, and with it the coroutines inside.
template <class... Arguments>
class body_ref {
 public:
  template <class Body>
    requires(!std::same_as<std::remove_cvref_t<Body>, body_ref> &&
             std::same_as<std::invoke_result_t<Body&, Arguments...>, gyre::task<>>)
  body_ref(Body&& body) noexcept  // NOLINT: implicit
      : body_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_(&call<std::remove_reference_t<Body>>) {}

  GYRE_CORO_WRAPPER gyre::task<> operator()(Arguments... arguments) const {
    return call_(body_, std::forward<Arguments>(arguments)...);
  }

 private:
  template <class Body>
  GYRE_CORO_WRAPPER static gyre::task<> call(void* body, Arguments... arguments) {
    return (*static_cast<Body*>(body))(std::forward<Arguments>(arguments)...);
  }

  void* body_;
  gyre::task<> (*call_)(void*, Arguments...);
};

}  // namespace gyre_test
