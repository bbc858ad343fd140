// gyre/coro/generator.hpp: a range whose elements are computed one after the other, without waiting.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/frame_pool.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/owned.hpp>

#include <coroutine>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

namespace gyre {

/// A coroutine that produces values with co_yield, for a range-based for. It cannot co_await; see async_generator.
///
///   gyre::generator<int> count(int end) { for (int i = 0; i < end; ++i) co_yield i; }
///   for (int i : count(3)) use(i);
///
/// The loop sees a T: a reference to the yielded value, which lives until the next step. An exception of the coroutine
/// leaves the loop. A generator that is left early destroys its locals. At its end, or after an exception, it is an
/// empty range.
/// Lifetime: arguments passed by reference must outlive the generator. The captures of a lambda live in the lambda, so
/// the lambda must outlive the generator.
template <class T>
class [[nodiscard("a generator does nothing until it is iterated")]] GYRE_CORO_TYPE generator {
 public:
  using element = std::remove_reference_t<T>;

  struct promise_type : pooled {
    element* current = nullptr;
    std::exception_ptr failure;

    generator get_return_object() noexcept { return generator(handle::from_promise(*this)); }
    static constexpr std::suspend_always initial_suspend() noexcept { return {}; }
    static constexpr std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(element& value) noexcept {
      current = &value;
      return {};
    }
    std::suspend_always yield_value(element&& value) noexcept {
      current = &value;
      return {};
    }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { failure = std::current_exception(); }
    template <class Awaitable>
    void await_transform(Awaitable&&) = delete;  // nothing could resume it: use an async_generator
  };
  using handle = std::coroutine_handle<promise_type>;

  struct sentinel {};

  /// An input iterator.
  class iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = std::remove_cvref_t<T>;

    iterator() noexcept = default;
    explicit iterator(handle coroutine) noexcept : coroutine_(coroutine) {}
    element& operator*() const noexcept { return *coroutine_.promise().current; }
    iterator& operator++() {
      step(coroutine_);
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, sentinel) noexcept { return i.coroutine_.done(); }

   private:
    handle coroutine_;
  };

  /// Runs to the next element. A generator that has ended has no more elements, as in Python. Stops the program when
  /// the generator was moved from. Errors: the exceptions of the coroutine, here and at each step.
  iterator begin() {
    if (!coroutine_) [[unlikely]]
      misuse("a generator that was moved from was iterated: use the object that it was moved to");
    if (!coroutine_.get().done()) [[likely]]
      step(coroutine_.get());
    return iterator(coroutine_.get());
  }
  [[nodiscard]] static sentinel end() noexcept { return {}; }

 private:
  explicit generator(handle coroutine) noexcept : coroutine_(coroutine) {}
  static void step(handle coroutine) {
    coroutine.resume();
    if (coroutine.promise().failure) [[unlikely]]
      std::rethrow_exception(std::exchange(coroutine.promise().failure, nullptr));
  }

  owned<handle, destroy_frame> coroutine_;
};

}  // namespace gyre
