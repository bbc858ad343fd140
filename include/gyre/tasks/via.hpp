// gyre/tasks/via.hpp: runs a function on a foreign executor.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/called_function.hpp>

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

namespace gyre {

/// The executor has destroyed the work without having run it, for instance because it was shut down.
class GYRE_API work_dropped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override;
};

class handed_work;

/// A call that waits for an executor. For the implementation of via().
class GYRE_API handed_call {
 protected:
  handed_call() noexcept = default;
  /// Only before it has started.
  handed_call(const handed_call& /*other*/) noexcept {}
  handed_call& operator=(handed_call&&) = delete;
  ~handed_call();

  /// Creates the work; `message` is posted to the loop when it has run. Errors: std::bad_alloc.
  [[nodiscard]] handed_work hand_over(io::completion& message, void (*run)(handed_call&) noexcept);
  /// Returns true when no thread has begun the work: it will never run, and `message` is not posted.
  [[nodiscard]] bool withdraw() noexcept;
  /// To be called first when the message has arrived.
  void arrived() noexcept;
  /// Errors: work_dropped.
  void expect_kept() const;

 private:
  friend class handed_work;
  struct ticket;

  ticket* ticket_ = nullptr;  // set while an executor may run the work
  bool dropped_ = false;
};

/// An executor runs this. It is a function object without parameters, which can be copied and has the size of a
/// pointer. Only the first call runs the function. Thread: any. Calls and copies that come too late have no effect.
class GYRE_API handed_work {
 public:
  handed_work(const handed_work& other) noexcept;
  handed_work(handed_work&& other) noexcept : ticket_(std::exchange(other.ticket_, nullptr)) {}
  handed_work& operator=(handed_work other) noexcept {
    std::swap(ticket_, other.ticket_);
    return *this;
  }
  ~handed_work();
  void operator()() const noexcept;

 private:
  friend class handed_call;
  explicit handed_work(handed_call::ticket& first) noexcept : ticket_(&first) {}
  handed_call::ticket* ticket_;
};

/// An executor for via() is an object with execute(work), or a function that takes the work.
template <class E>
concept work_executor =
    requires(E& executor, handed_work work) { executor.execute(std::move(work)); } || std::invocable<E&, handed_work>;

/// The operation of via(). Executor may be a reference.
template <class Executor, class F>
class [[nodiscard("co_await it")]] via_op : public operation<via_op<Executor, F>>, private handed_call {
 public:
  using result_type = std::invoke_result_t<F&>;
  static_assert(
      !requires { typename result_type::promise_type; },
      "via takes a plain function, not a coroutine: a task never leaves its loop; use on() for another loop");
  static_assert(!std::is_rvalue_reference_v<result_type>, "via gives a value or an lvalue reference: return a copy");

  via_op(Executor&& executor, F&& function)
      : executor_(std::forward<Executor>(executor)), called_(std::move(function)) {}
  via_op(via_op&& other) noexcept(std::is_nothrow_move_constructible_v<F>)
      : operation<via_op>(other),
        handed_call(other),
        executor_(std::forward<Executor>(other.executor_)),
        called_(std::move(other.called_)) {}

  bool try_now() noexcept { return false; }
  void start() {
    this->complete = call_member<&via_op::on_complete>;
    called_.begin();
    auto run = [](handed_call& call) noexcept { static_cast<via_op&>(call).called_.call(); };
    const handed_work work = hand_over(*this, run);
    try {
      if constexpr (requires { executor_.execute(handed_work(work)); })
        executor_.execute(handed_work(work));
      else
        executor_(handed_work(work));
    } catch (...) {
      if (withdraw()) throw;  // otherwise the executor has begun, and the result wins
    }
  }
  void on_cancel() noexcept {
    if (withdrawn_ || !withdraw()) return;  // it has begun: wait for it
    withdrawn_ = true;
    this->finish_soon();
  }
  void on_complete() noexcept {
    arrived();
    this->proceed(*this);
  }
  result_type await_resume() {
    if (withdrawn_) throw_cancelled();
    expect_kept();
    return called_.take();
  }

 private:
  Executor executor_;
  called_function<F> called_;
  bool withdrawn_ = false;
};

/// Runs `function()` on a foreign executor, and returns its result or throws its exception. The task continues on its
/// own loop:
///
///   auto shape = co_await gyre::via(physics_pool, [&] { return collide(bodies); });
///   co_await gyre::via([&](auto work) { ui.invokeLater(std::move(work)); }, [&] { label.set_text(text); });
///
/// An executor is an object with `execute(work)`, such as asio::any_io_executor, or a function that takes the work. It
/// calls the work once, at once or later, on any thread. The work is a small function object that can be copied, and
/// fits into std::function without an allocation. One small object is allocated for each call. The function sees
/// the task_local values of its caller.
///
/// Lifetime: captures by reference may refer to the caller's objects, because the await does not end while the function
/// runs. An executor that is passed as an lvalue must live until the await has begun to wait.
/// Cancel: if the executor has not begun, the function never runs, and the await ends at once. Otherwise it waits, and
/// the result wins over the cancel.
/// Errors: the exceptions of the function; those of the executor when it refuses the work; work_dropped when it has
/// destroyed all copies of the work without a call; std::bad_alloc.
/// asyncio: run_in_executor. async_simple: via. co_context: resume_on. In those the coroutine itself moves to the
/// executor; here only the function does, and everything else of the task stays on one thread.
template <class Executor, class F>
  requires work_executor<std::remove_reference_t<Executor>>
[[nodiscard("co_await it")]] via_op<Executor, std::decay_t<F>> via(Executor&& executor, F&& function) {
  static_assert(requires(std::decay_t<F>& f) { f(); }, "via takes a function without parameters");
  static_assert(!may_be_destroyed_twice<F> && !may_be_destroyed_twice<Executor>,
                "g++ 12 would destroy the captures of this lambda twice: name it first, and pass it without std::move");
  return {std::forward<Executor>(executor), std::decay_t<F>(std::forward<F>(function))};
}

}  // namespace gyre
