// gyre/coro/async_generator.hpp: a sequence of values, each of which can be waited for.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/nested_frames.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

namespace gyre {

/// A coroutine that may co_await, and produces values with co_yield:
///
///   gyre::async_generator<int> ticks() { for (int i = 0;; ++i) { co_await gyre::sleep(1s); co_yield i; } }
///   auto numbers = ticks();
///   while (int* number = co_await numbers.next()) use(*number);
///
/// It runs only inside `next`, as a part of the task that awaits `next`. A cancel of that task ends the generator's
/// current await and leaves the generator through `next`. A generator that is left early destroys its locals but cannot
/// await then, so clean-up that needs an await belongs in the surrounding task. For the same reason nothing that
/// belongs to the task may be open at a co_yield: a timeout_scope, a cancel_scope, a binding of a task_local. Otherwise
/// the program is stopped.
/// Thread: belongs to one loop. Lifetime: same as a task. It outlives every next(), or the program is stopped.
template <class T>
class [[nodiscard("a generator does nothing until next() is awaited")]] GYRE_CORO_TYPE async_generator {
 public:
  using element = std::remove_reference_t<T>;

  struct promise_type : task_promise_base {
    // The last yielded value. Null while a next() waits and after the coroutine has ended. Not null before the first
    // value.
    element* current = reinterpret_cast<element*>(this);
    std::uint32_t open_before = 0;  // task_context::open when the task requested the value

    /// Transfers control to the coroutine that awaits the next value.
    struct yielded {
      static constexpr bool ignores_cancel = true;
      static constexpr bool await_ready() noexcept { return false; }
      template <class Promise>  // promise_type, or one that adds how the frame is allocated
      std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
        promise_type& promise = self.promise();
        if (promise.context->open != promise.open_before) [[unlikely]]
          misuse(
              "an async_generator reached co_yield inside a timeout_scope, a cancel_scope or a task_local binding of "
              "its own, which would stay open in the task that reads it; close it before co_yield");
        return promise.caller->handle();
      }
      void await_resume() noexcept {}
    };

    async_generator get_return_object() noexcept {
      return async_generator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    yielded yield_value(element& value) noexcept {
      current = &value;
      return {};
    }
    yielded yield_value(element&& value) noexcept {
      current = &value;
      return {};
    }
    void return_void() noexcept {}
  };

  /// Waits for the next value. Returns null when there are no more.
  struct [[nodiscard("co_await it")]] next_op {
    using gyre_awaitable_tag = void;
    std::coroutine_handle<promise_type> coroutine;

    [[nodiscard]] bool await_ready() const noexcept {
      if (!coroutine) [[unlikely]]
        misuse("next() of an async_generator that was moved from: use the object that it was moved to");
      if (coroutine.promise().current != nullptr) [[likely]]
        return false;
      if (!coroutine.done())
        misuse("next() of an async_generator was awaited while another next() of it waits; let one task read it");
      return true;
    }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> caller) noexcept {
      frame_base& frame = caller.promise();
      promise_type& promise = coroutine.promise();
      promise.current = nullptr;
      promise.caller = &frame;
      promise.context = frame.context;
      promise.open_before = frame.context->open;
      return coroutine;
    }
    element* await_resume() {
      promise_type& promise = coroutine.promise();
      if (promise.current == nullptr && promise.failure) [[unlikely]]
        std::rethrow_exception(std::exchange(promise.failure, nullptr));
      return promise.current;
    }
  };

  /// Runs the coroutine to its next co_yield. Returns a pointer to the yielded value, or null from the end on. Stops
  /// the program when another next() still waits, and when the generator was moved from.
  ///
  /// Lifetime: the value lives until the next call, or until the end of the generator.
  /// Cancel: same as the await inside the generator; the generator has ended then. Errors: the exception of the
  /// coroutine, once; the generator has ended then.
  next_op next() noexcept { return {coroutine_.get()}; }

  /// Reject a range-based for, which cannot wait.
  template <class Refused = T>
  element* begin() {
    static_assert(misused<Refused>, "an async_generator is awaited: while (auto* value = co_await generator.next())");
    return nullptr;
  }
  element* end() noexcept { return nullptr; }

 private:
  explicit async_generator(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}

  static void destroy(std::coroutine_handle<promise_type> coroutine) noexcept {
    if (coroutine.promise().current == nullptr && !coroutine.done()) [[unlikely]]
      misuse("an async_generator was destroyed while a task waits in its next(): cancel and await that task first");
    promise_type& promise = coroutine.promise();
    // A generator that is suspended in its body has locals, which must outlive the generators that refer to them.
    const bool is_in_its_body = !coroutine.done() && promise.current != reinterpret_cast<element*>(&promise);
    if (is_in_its_body)
      coroutine.destroy();
    else
      destroy_nested(promise);
  }

  owned<std::coroutine_handle<promise_type>, &destroy> coroutine_;
};

}  // namespace gyre
