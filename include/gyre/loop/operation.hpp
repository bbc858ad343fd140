// gyre/loop/operation.hpp: the protocol of every operation that the loop completes. For authors of operations.
#pragma once

#include <gyre/coro/context.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/reference_to.hpp>
#include <gyre/io/request.hpp>
#include <gyre/loop/call_member.hpp>
#include <gyre/loop/event_loop.hpp>

#include <coroutine>
#include <system_error>
#include <type_traits>
#include <utility>

namespace gyre {

/// The loop of this thread, for the constructor or destructor of an object; `object` names it ("a stream"). Stops the
/// program when there is none, because the object was made before its loop or outlives it.
[[nodiscard]] GYRE_API event_loop& loop_of(const char* object) noexcept;

/// Stops the program: `operation` was called on `object` ("a stream"), which belongs to a loop other than the running
/// one. Returns in a forked child that uses its parent's loop; the backend of that loop then stops the program with a
/// message.
GYRE_API void stop_on_other_loop(const char* operation, const char* object) noexcept;

/// Stops the program: `object` ("a stream") was destroyed on the loop of another thread. Returns in a forked child,
/// which may destroy objects of its parent's loop.
GYRE_API void stop_destroyed_elsewhere(const char* object) noexcept;

/// Stops the program when `scope`, which an `object` ("a task_group") has opened, is below another loop than the
/// running one; `operation` was called on the object.
GYRE_API void expect_scope_on_own_loop(const cancel_scope& scope, const char* operation, const char* object) noexcept;

/// Stops the program when the waiting `task` belongs to a loop other than the running one, because a task must be woken
/// on the thread of its loop.
GYRE_API void check_woken_on_own_loop(const task_context& task) noexcept;

/// Stops the program: `operation` ("spawn") was called on a thread without a loop.
[[noreturn]] GYRE_API void stop_without_loop(const char* operation) noexcept;

/// For the destructor of an operation. Stops the program when its request is in flight, because the coroutine was
/// destroyed; `when` continues the sentence: "in the middle of a read".
inline void expect_ended(const io::request& call, const char* when) noexcept {
  if (call.where == io::phase::in_flight) misuse("a coroutine was destroyed %s; cancel and await it first", when);
}

/// The loop of this thread, for a function that starts something; `operation` names it ("spawn"). Stops the program
/// when there is none.
[[nodiscard]] inline event_loop& loop_for(const char* operation) noexcept {
  event_loop* const loop = event_loop::current_or_null();
  if (loop == nullptr) [[unlikely]]
    stop_without_loop(operation);
  return *loop;
}

/// The part that all operations share: the waiting coroutine, and the way to continue it.
///
/// Lifetime: lives in the awaiting frame. Movable only until it has started.
struct operation_base : cancellable {
  using gyre_awaitable_tag = void;

  frame_base* waiter = nullptr;  ///< set by the await; null in a combination that resumes no coroutine itself

  /// Called when the result is available. Defaults to resuming the waiter.
  void (*proceed)(operation_base&) noexcept = &resume_waiter;

  static void resume_waiter(operation_base& op) noexcept {
    task_context& task = *op.waiter->context;
    task.leaf = nullptr;
    task.innermost = nullptr;
    event_loop::current_or_null()->set_running_task(&task);  // the task that runs this operation
    op.waiter->handle().resume();
  }

  /// True when the scope of the waiting task is cancelled, which is then the reason why the operation was cancelled.
  [[nodiscard]] bool scope_cancelled() const noexcept { return waiter != nullptr && waiter->context->cancel_pending; }

  /// The error of an operation that ended early because of a cancel: throws `cancelled` when the scope of the waiting
  /// task is cancelled. Otherwise its own time-out, or cancel() of its object, ended it: operation_canceled.
  [[nodiscard]] std::error_code cancel_error() const {
    if (scope_cancelled()) throw_cancelled();
    return std::make_error_code(std::errc::operation_canceled);
  }

  /// The error of a request whose `result` is -errno. Throws `cancelled` as cancel_error() does.
  [[nodiscard]] GYRE_API std::error_code error_of(int result) const;

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

/// The result of an operation whose errors are values: returns the value of take_result(), or throws through fail().
template <class Op>
auto value_or_throw(Op& op) -> restored<typename decltype(op.take_result())::value_type> {
  auto outcome = op.take_result();
  if (!outcome) [[unlikely]]
    op.fail(outcome.error());
  if constexpr (!std::is_void_v<typename decltype(outcome)::value_type>) return *std::move(outcome);
}

/// Base of operations that complete through the loop. Derived provides
///   bool try_now()      completes without waiting, if possible; after false, `start` is called
///   void start()        starts; `proceed(*this)` is called later, never inside this call
///   void on_cancel()    asks a started operation to end early; must not resume the task
/// and its result, either as
///   std::expected<T, std::error_code> take_result()   throws only `cancelled`
///   void fail(std::error_code)                        throws, with the operation's name and object
/// or, for an operation that cannot fail, as
///   T await_resume()    returns the result, or throws `cancelled`
///
/// Optional members: fully_succeeded() for `a && b`; give_back() for a result that must not be lost (granted.hpp).
///
/// try_now and start may throw (std::bad_alloc), and the await then throws the same. A function that throws must leave
/// everything unchanged: nothing refers to the operation, and the operation holds nothing. `Completion` is the
/// operation's entry in the ready queue. An operation with an io::request uses that request, which is either queued or
/// in flight, never both.
template <class Derived, class Completion = io::completion>
class operation : public operation_base, public Completion {
 public:
  bool await_ready() noexcept(noexcept(std::declval<Derived&>().try_now())) {
    done_ = self().try_now();
    return done_ && event_loop::may_continue_inline();
  }

  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> caller) noexcept(noexcept(std::declval<Derived&>().start())) {
    static_assert(alignof(Derived) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "a coroutine cannot hold an over-aligned value: pass it in a std::unique_ptr");
    if (waiter != nullptr) misuse("an operation was awaited for the second time; make a new one for each await");
    frame_base& frame = caller.promise();
    waiter = &frame;
    frame.context->innermost = &frame;
    if (done_) [[unlikely]]
      return finish_after_others();
    frame.context->leaf = this;
    accept_cancel();
    if constexpr (noexcept(self().start())) {
      self().start();
    } else {
      try {
        self().start();
      } catch (...) {  // the task continues with the exception and waits for nothing
        frame.context->leaf = nullptr;
        frame.context->innermost = nullptr;
        waiter = nullptr;
        throw;
      }
    }
  }

  decltype(auto) await_resume() { return value_or_throw(self()); }

  /// A cancel calls on_cancel() from now on. Called before `start`, by the await or by a combination.
  void accept_cancel() noexcept { operation_base::cancel = call_member<&Derived::on_cancel>; }

  /// Continues the task. Derived may have its own for a completion that needs more.
  void on_complete() noexcept { proceed(*this); }

 protected:
  /// Calls `proceed` from the ready queue, and never an on_complete() of Derived.
  void finish_soon() noexcept {
    Completion::complete = call_member<&operation::on_complete>;
    if constexpr (checks_everything)
      if (waiter != nullptr) check_woken_on_own_loop(*waiter->context);
    event_loop::schedule_here(*this);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  // The budget is used up: the result goes through the ready queue, too late to cancel. Not in line, so that
  // await_suspend is.
  [[gnu::noinline]] void finish_after_others() noexcept {
    // So many system calls have taken long enough that the loop checks the kernel before it runs another task.
    if constexpr (std::is_base_of_v<io::request, Completion>) event_loop::current().end_turn();
    finish_soon();
  }

  bool done_ = false;
};

}  // namespace gyre
