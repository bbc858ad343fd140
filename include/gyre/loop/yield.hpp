// gyre/loop/yield.hpp: lets the other ready tasks run.
#pragma once

#include <gyre/loop/operation.hpp>

namespace gyre {

class [[nodiscard("co_await it")]] yield_op : private io::completion {
 public:
  using gyre_awaitable_tag = void;

  static constexpr bool await_ready() noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> caller) noexcept {
    frame_base& frame = caller.promise();
    frame.context->innermost = waiter_ = &frame;
    complete = call_member<&yield_op::on_complete>;
    event_loop::schedule_here(*this);
  }
  static constexpr void await_resume() noexcept {}

 private:
  void on_complete() noexcept {
    waiter_->context->innermost = nullptr;
    event_loop::current().set_running_task(waiter_->context);
    waiter_->handle().resume();
  }

  frame_base* waiter_ = nullptr;
};

/// Moves the task to the end of the ready queue. The loop runs up to loop_options::ready_per_turn ready tasks before it
/// checks timers and the kernel. Between long pieces of work, use yield_turn().
///
/// Cancel: inside a cancelled scope it fails at once. A cancel that comes while it is queued affects the next await.
[[nodiscard]] inline yield_op yield() noexcept { return {}; }

/// The same, but the loop checks timers and the kernel before it runs the next task. Use it between pieces of work of
/// 50 µs or more, so that the timers and the I/O of other tasks do not wait for many of them. asyncio: `await
/// sleep(0)`.
///
/// Cancel: same as yield().
[[nodiscard]] inline yield_op yield_turn() noexcept {
  event_loop::current().end_turn();
  return {};
}

}  // namespace gyre
