// gyre/tasks/run_coroutine_threadsafe.hpp: starts a task on another thread's loop and waits for it.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/loop/task_local.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/spawn.hpp>

#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre {

/// The outcome of a task, shared by two threads. Reference-counted; the last owner frees it.
class GYRE_API shared_outcome_base {
 public:
  shared_outcome_base(const shared_outcome_base&) = delete;
  shared_outcome_base& operator=(const shared_outcome_base&) = delete;

  void add_reference() noexcept;
  void release() noexcept;

  /// Blocks the thread until the task has ended, also when the thread has a loop of its own: there, await on(loop, f).
  /// Errors: std::logic_error on the thread of the task's loop, which would wait for itself, and in a forked child,
  /// where a loop of the parent does not run.
  void wait() const;
  /// The same for at most `limit`. Returns false when the task has not ended.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds limit) const;
  [[nodiscard]] bool done() const noexcept;
  /// Makes the loop cancel the task, unless it has ended. Allocates nothing.
  void cancel() noexcept;

 protected:
  explicit shared_outcome_base(event_loop& loop);
  virtual ~shared_outcome_base();

  /// Called on the loop: records the task, which may have been cancelled already.
  void began(task_state& task) noexcept;
  /// Called on the loop: the outcome has been stored.
  void ended() noexcept;
  [[nodiscard]] event_loop& loop() const noexcept { return loop_; }

 private:
  void check_loop() const;

  struct gate;
  event_loop& loop_;
  gate* gate_;
  task_state* task_ = nullptr;  // used only on the loop's thread
  bool cancelled_ = false;      // used only on the loop's thread
  struct cancel_message : io::completion {
    shared_outcome_base* outcome = nullptr;  // set once it has been posted
    void on_complete() noexcept;
  };
  cancel_message cancel_message_;
};

template <class T>
class shared_outcome final : public shared_outcome_base {
 public:
  explicit shared_outcome(event_loop& loop) : shared_outcome_base(loop) {}
  shared_outcome& operator=(shared_outcome&&) = delete;
  ~shared_outcome() override {
    if (unseen_) event_loop::report({std::move(failure_), "run_coroutine_threadsafe", where_});
  }

  /// Errors: std::bad_alloc; nothing was started.
  void start(task<T> work, std::source_location where) {
    add_reference();
    where_ = where;
    loop().post([told = teller(*this), work = std::move(work),
                 locals = kept_bindings(task_local_binding::share(task_local_binding::visible())),
                 where]() mutable noexcept {
      shared_outcome& outcome = *told;
      outcome.add_reference();
      outcome.starting_ = true;
      const lent_bindings lent(locals.get());
      try {
        task_handle<void> handle =
            spawn(run_and_tell(std::move(told), std::move(work)), {.name = "run_coroutine_threadsafe"}, where);
        outcome.began(handle.state());
        handle.detach();
      } catch (...) {  // no memory: the teller has recorded the outcome
      }
      outcome.starting_ = false;
      outcome.release();
    });
  }
  T take() {
    unseen_ = false;
    if (failure_) std::rethrow_exception(failure_);
    if constexpr (!std::is_void_v<T>) {
      if constexpr (!std::is_reference_v<T>)
        if (std::exchange(value_taken_, true)) [[unlikely]]
          misuse("get() took the value of a task for the second time; it is moved out the first time: keep it");
      return *std::move(value_);
    }
  }

 private:
  // The caller's task_local values, for the task.
  using kept_bindings = owned<task_local_binding*, &task_local_binding::release>;
  // Reports the end even when the task never starts because it is cancelled first.
  static void tell(shared_outcome* outcome) noexcept {
    if (!outcome->failure_ && !outcome->value_)
      outcome->failure_ =
          outcome->starting_ ? std::make_exception_ptr(std::bad_alloc()) : std::make_exception_ptr(task_cancelled());
    outcome->ended();
    outcome->release();
  }
  using teller = owned<shared_outcome*, &tell>;
  static task<void> run_and_tell(teller told, task<T> work) {
    try {
      if constexpr (std::is_void_v<T>) {
        co_await std::move(work);
        told->value_.emplace();
      } else {
        told->value_.emplace(co_await std::move(work));
      }
    } catch (const cancelled&) {
      throw;
    } catch (...) {
      told->failure_ = std::current_exception();  // thrown where it is waited for
      told->unseen_ = true;
    }
  }

  std::optional<held_result<T>> value_;
  std::exception_ptr failure_;
  std::source_location where_;
  bool unseen_ = false;  // nobody has asked for the failure
  bool value_taken_ = false;
  bool starting_ = false;  // used only on the loop's thread: an end now means that there was no memory for the task
};

/// A task of a loop, as seen from another thread. If the handle is dropped, the task continues, and its failure is
/// reported as that of a background task. asyncio: concurrent.futures.Future.
///
/// A default-constructed or moved-from handle is empty: it can be assigned to and tested.
/// Thread: any but that of the loop, one at a time.
template <class T = void>
class shared_task_handle {
 public:
  shared_task_handle() noexcept = default;
  explicit shared_task_handle(shared_outcome<T>& outcome) noexcept : outcome_(&outcome) {}

  /// Blocks until the task has ended. Returns its value, or throws its exception; throws task_cancelled when it was
  /// cancelled, by `cancel` or by the end of its loop. A value is moved out, so a second `get` of a value stops the
  /// program.
  /// Errors: std::logic_error on the loop's own thread, and in a forked child.
  T get() {
    outcome().wait();
    return outcome_->take();
  }
  /// Blocks for at most `limit`. Returns false when the task has not ended; it continues. Errors: same as get().
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds limit) const { return outcome().wait_for(limit); }
  [[nodiscard]] bool done() const noexcept { return outcome().done(); }
  /// Cancels the task, without waiting for its end.
  void cancel() noexcept { outcome().cancel(); }
  /// True when the handle has a task.
  [[nodiscard]] explicit operator bool() const noexcept { return outcome_ != nullptr; }

 private:
  [[nodiscard]] shared_outcome<T>& outcome() const noexcept {
    if (outcome_ == nullptr) [[unlikely]]
      misuse("this shared_task_handle has no task: it is default-constructed or moved from");
    return *outcome_;
  }

  owned<shared_outcome<T>*, &shared_outcome_base::release> outcome_;
};

/// Starts a task on a loop that runs on another thread. asyncio: run_coroutine_threadsafe.
///
///   auto answer = gyre::run_coroutine_threadsafe(loop, ask("how many"));
///   use(answer.get());
///
/// Thread: any; the loop must not end before this has returned. The task is not started inside the call, and runs on
/// the loop's thread. It sees the task_local values of the caller.
/// Errors: std::bad_alloc, and nothing was started; `get` throws it when the loop has no memory for the task.
template <class T>
[[nodiscard]] shared_task_handle<T> run_coroutine_threadsafe(
    event_loop& loop, task<T> work, std::source_location where = std::source_location::current()) {
  auto* const outcome = new shared_outcome<T>(loop);
  shared_task_handle<T> handle(*outcome);
  outcome->start(std::move(work), where);
  return handle;
}
/// The same for `f()`, which is called on the loop's thread and returns the task.
template <class F>
  requires task_function<F>
[[nodiscard]] auto run_coroutine_threadsafe(event_loop& loop, F f,
                                            std::source_location where = std::source_location::current()) {
  return run_coroutine_threadsafe(loop, call_in_frame(std::move(f)), where);
}

/// The same, but waits for the task: a plain thread calls a coroutine with this. Returns its value or throws its
/// exception.
///
/// Thread: any but that of the loop. Errors: same as shared_task_handle::get().
template <class Work>
decltype(auto) blocking_run(event_loop& loop, Work work, std::source_location where = std::source_location::current()) {
  return run_coroutine_threadsafe(loop, std::move(work), where).get();
}

}  // namespace gyre
