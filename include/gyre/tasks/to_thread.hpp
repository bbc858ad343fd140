// gyre/tasks/to_thread.hpp: runs a blocking function on a thread.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/io/blocking_pool.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/called_function.hpp>
#include <gyre/tasks/thread_pool.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace gyre {

/// The operation of to_thread(): waits for the function.
template <class F>
class [[nodiscard("co_await it")]] to_thread_op : public operation<to_thread_op<F>>, private io::blocking_job {
 public:
  using result_type = std::invoke_result_t<F&>;
  static_assert(
      !requires { typename result_type::promise_type; },
      "to_thread takes a function that blocks, not a coroutine: the task that it returns would never run");
  static_assert(!std::is_rvalue_reference_v<result_type>,
                "to_thread gives a value or an lvalue reference: return a copy");

  to_thread_op(io::blocking_pool& pool, F&& function) : called_(std::move(function)), pool_(&pool) {}
  to_thread_op(to_thread_op&& other) noexcept(std::is_nothrow_move_constructible_v<F>)
      : operation<to_thread_op>(other), called_(std::move(other.called_)), pool_(other.pool_) {}
  ~to_thread_op() {
    if (loop_ != nullptr)
      misuse("a coroutine was destroyed while a thread still runs its function; cancel and await it first");
  }

  bool try_now() noexcept { return false; }
  void start() noexcept {
    this->complete = call_member<&to_thread_op::on_complete>;
    run = call_member<&to_thread_op::on_thread>;
    called_.begin();
    loop_ = &event_loop::current();
    loop_->expect_post();
    waiting_ = pool_->waiting_counter();
    pool_->submit_awaited(*this, waiting_);
  }
  void on_cancel() noexcept {
    if (loop_ == nullptr || !io::blocking_pool::withdraw(*this)) return;  // it has started: wait for it
    pool_->end_waiting(waiting_);
    arrived();
    withdrawn_ = true;
    this->finish_soon();
  }
  void on_complete() noexcept {
    arrived();
    this->proceed(*this);
  }
  result_type await_resume() {
    if (withdrawn_) throw_cancelled();
    return called_.take();
  }

 private:
  void on_thread() noexcept {
    called_.call();
    pool_->end_waiting(waiting_);
    loop_->post(static_cast<io::completion&>(*this));  // last: the loop may have destroyed it before this returns
  }
  void arrived() noexcept {
    loop_->expected_post_arrived();
    loop_ = nullptr;
  }

  called_function<F> called_;
  io::blocking_pool* pool_;
  event_loop* loop_ = nullptr;      // set while a thread may touch this
  std::size_t* waiting_ = nullptr;  // see blocking_pool::submit_awaited
  bool withdrawn_ = false;
};

/// A function that can be called without arguments.
template <class F>
concept thread_function = requires(std::decay_t<F>& f) { f(); };

template <class F>
to_thread_op<std::decay_t<F>> make_to_thread_op(io::blocking_pool& pool, F&& function) {
  static_assert(!may_be_destroyed_twice<F>,
                "g++ 12 would destroy the captures of this lambda twice: name it first, and pass it without std::move");
  return {pool, std::decay_t<F>(std::forward<F>(function))};
}

/// Runs `function()` on a thread, and returns its result or throws its exception:
///
///   auto image = co_await gyre::to_thread([&] { return decode(bytes); });
///
/// The process has a pool for these calls, which grows to 64 threads, or one per core if that is more. Further calls
/// wait in a queue. A call from one of these threads (from a loop that such a function runs) goes to the head of the
/// queue, and its caller does not count towards the limit meanwhile. File operations and name resolution have their own
/// threads.
/// The function sees the task_local values of its caller. Nothing is allocated.
/// Lifetime: captures by reference may refer to the caller's objects, because the await does not end before the
/// function.
/// Cancel: if no thread has started the function, it never runs. Otherwise the await waits for it, and its result wins
/// over the cancel.
template <thread_function F>
[[nodiscard("co_await it")]] to_thread_op<std::decay_t<F>> to_thread(F&& function) {
  return make_to_thread_op(io::blocking_pool::for_calls(), std::forward<F>(function));
}

/// The same on a thread of `pool`.
///
/// Lifetime: `pool` must outlive the await. Cancel: same as above.
template <thread_function F>
[[nodiscard("co_await it")]] to_thread_op<std::decay_t<F>> to_thread(io::blocking_pool& pool, F&& function) {
  return make_to_thread_op(pool, std::forward<F>(function));
}
template <thread_function F>
[[nodiscard("co_await it")]] to_thread_op<std::decay_t<F>> to_thread(thread_pool& pool, F&& function) {
  return make_to_thread_op(pool.jobs(), std::forward<F>(function));
}
/// Rejects functions with parameters.
template <class F, class... Arguments>
  requires(sizeof...(Arguments) > 0 || !thread_function<F>)
auto to_thread(F&& /*function*/, Arguments&&... /*arguments*/) {
  static_assert(misused<F>, "to_thread takes a function without parameters: to_thread([&] { return f(argument); })");
}

}  // namespace gyre
