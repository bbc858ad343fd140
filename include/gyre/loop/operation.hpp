// gyre/loop/operation.hpp: an await that the loop completes: the protocol of every leaf. For authors of awaitables.
#pragma once

#include <gyre/coro/context.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/io/request.hpp>
#include <gyre/loop/event_loop.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace gyre {

/// The loop of this thread, for an object that begins or ends: `object` names it ("a stream"). Stops the program when there
/// is none: the object is made before its loop, or outlives it.
[[nodiscard]] GYRE_API event_loop& loop_of(const char* object) noexcept;

/// Stops the program: `operation` was called on `object` ("a stream"), which belongs to another loop than the running one.
/// Returns in a forked child that uses the loop of its parent: the backend of that loop stops the program, and says so.
GYRE_API void stop_on_other_loop(const char* operation, const char* object) noexcept;

/// Stops the program when the waiting `task` belongs to another loop than the running one, because a task must be woken
/// on the thread of its loop. Walks up the scopes of the task.
GYRE_API void check_woken_on_own_loop(const task_context& task) noexcept;

/// Stops the program: `operation` ("spawn") was called on a thread without a loop.
[[noreturn]] GYRE_API void stop_without_loop(const char* operation) noexcept;

/// The loop of this thread, for a function that starts something: `operation` names it ("spawn"). Stops the program when there
/// is none.
[[nodiscard]] inline event_loop& loop_for(const char* operation) noexcept {
  event_loop* const loop = event_loop::current_or_null();
  if (loop == nullptr) [[unlikely]]
    stop_without_loop(operation);
  return *loop;
}

/// The part that all operations share: the coroutine that waits, and how it goes on.
///
/// Lifetime: lives in the awaiting frame. Movable until it has begun, never after.
struct operation_base : cancellable {
  using gyre_awaitable_tag = void;

  frame_base* waiter = nullptr;  ///< set by the await; null in a combination that resumes nobody by itself

  /// Called when the result is there. Defaults to resuming the waiter.
  void (*proceed)(operation_base&) noexcept = &resume_waiter;

  static void resume_waiter(operation_base& op) noexcept {
    task_context& task = *op.waiter->context;
    task.leaf = nullptr;
    task.innermost = nullptr;
    event_loop::current_or_null()->set_running_task(&task);  // it runs this
    op.waiter->handle().resume();
  }

  /// The scope of the waiting task is cancelled: this is why the operation was.
  [[nodiscard]] bool scope_cancelled() const noexcept { return waiter != nullptr && waiter->context->cancel_pending; }

  /// True when its task waits for this operation alone, and no time-out of that task limits the wait.
  [[nodiscard]] bool waits_for_ever() const noexcept {
    if (waiter == nullptr || proceed != &resume_waiter)
      return false;  // part of a combination, or of timeout(t, operation)
    const task_context* const task = waiter->context;
    for (const cancel_scope* each = task->scope; each != nullptr && each->task() == task; each = each->parent())
      if (each->is_limited()) return false;
    return true;
  }
};

/// Base of operations that complete through the loop. Derived gives
///   bool try_now()        finishes without waiting, if it can; false: `start` will be called
///   void start()          begins; later, and never inside this call, somebody calls `proceed(*this)`
///   R    await_resume()   the result, or throws
/// and sets `cancel`, which asks a started operation to end early.
///
/// try_now and start may throw (std::bad_alloc), and the await then throws the same. A function that throws leaves everything as
/// it was: nothing refers to the operation, and the operation holds nothing. `Completion` is the entry of the operation in the
/// ready queue. An operation that has an io::request uses that request, which is either queued or in flight, never both.
template <class Derived, class Completion = io::completion>
class operation : public operation_base, public Completion {
 public:
  bool await_ready() noexcept(noexcept(std::declval<Derived&>().try_now())) {
    done_ = self().try_now();
    return done_ && event_loop::current().may_continue_inline();
  }

  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> caller) noexcept(noexcept(std::declval<Derived&>().start())) {
    if (waiter != nullptr) misuse("an operation was awaited for the second time; make a new one for each await");
    frame_base& frame = caller.promise();
    waiter = &frame;
    frame.context->innermost = &frame;
    if (done_) {  // the budget is used up: the result waits its turn, and a cancel comes too late for it
      // So many system calls took long enough that the loop looks at the kernel before it runs anybody else.
      if constexpr (std::is_base_of_v<io::request, Completion>) event_loop::current().end_turn();
      finish_soon();
      return;
    }
    frame.context->leaf = this;
    if constexpr (noexcept(self().start())) {
      self().start();
    } else {
      try {
        self().start();
      } catch (...) {  // the task goes on with the exception: it waits for nothing
        frame.context->leaf = nullptr;
        frame.context->innermost = nullptr;
        waiter = nullptr;
        throw;
      }
    }
  }

 protected:
  /// Calls `proceed` from the ready queue.
  void finish_soon() noexcept {
    Completion::complete = [](io::completion& c) noexcept {
      auto& op = static_cast<operation&>(static_cast<Completion&>(c));
      op.proceed(op);
    };
    if constexpr (checks_everything)
      if (waiter != nullptr) check_woken_on_own_loop(*waiter->context);
    event_loop::current().schedule(*this);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  bool done_ = false;
};

}  // namespace gyre
