// gyre/tasks/remote_call.hpp: a function of a task that runs on another loop, and its cancel.
// For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/task_local.hpp>
#include <gyre/tasks/task_state.hpp>

#include <exception>
#include <new>

namespace gyre {

/// The messages of one call. `home` is the loop of the caller, `target` the loop that runs the function.
///
/// One item carries the call to the target and the answer back. A cancel has an item of its own. Each item is in at
/// most one inbox, and the answer leaves only when the target has received a cancel that was sent. So the call may be
/// destroyed as soon as the answer has arrived.
class GYRE_API remote_call : protected task_owner {
 public:
  remote_call& operator=(remote_call&&) = delete;

 protected:
  explicit remote_call(event_loop& target) noexcept : target_(&target) {}
  /// Only before it has started.
  remote_call(const remote_call& other) noexcept : task_owner(other), target_(other.target_) {}
  ~remote_call();

  // On the home loop.

  [[nodiscard]] bool is_local() const noexcept { return target_ == event_loop::current_or_null(); }
  /// To be called before `send` when the function returns a task. If the caller is shielded from the end of its loop,
  /// the end of the target does not cancel the task either. Only loops that end together can wait for each other.
  void inherit_shield() noexcept;
  /// Sends `message`, whose `complete` runs on the target. It then brings the answer, and `answered` runs at home.
  /// In a forked child that has no thread for the target, the program is stopped with a message.
  void send(io::completion& message, void (*answered)(io::completion&) noexcept) noexcept;
  /// Best effort. Idempotent.
  void request_cancel() noexcept;
  /// To be called first when the answer has arrived.
  void arrived() noexcept;
  /// Throws the exception of the function, if there is one, and `cancelled` when a cancel kept the function from
  /// running. A cancel that the caller did not request becomes task_cancelled.
  void rethrow_failure();

  // On the target.

  /// Returns false when the call was cancelled before the message has arrived; the function must not run then.
  /// To be called first.
  [[nodiscard]] bool accept() noexcept;
  /// The scope above the task that runs the function.
  [[nodiscard]] cancel_scope& scope_there() const noexcept;
  /// Makes `task` the one that a cancel ends. Its owner must be this call.
  void runs_in(task_state& task) noexcept { task_ = &task; }
  /// Keeps the exception that is being handled.
  void fail() noexcept { failure_ = std::current_exception(); }
  /// Takes the exception of a task that has ended. Returns false when it has none.
  bool take_failure(task_state& ended) noexcept;
  /// Frees the task, with its arguments. Its value must have been taken.
  void release_task() noexcept;
  /// Sends the answer. The call may be gone when this returns.
  void answer() noexcept;

  /// The task_local values of the caller.
  [[nodiscard]] task_local_binding* locals() const noexcept { return locals_; }
  [[nodiscard]] event_loop& target() const noexcept { return *target_; }

 private:
  struct cancel_message : io::completion {
    remote_call* call = nullptr;
  };
  void on_cancel_arrived() noexcept;

  event_loop* target_;
  event_loop* home_ = nullptr;  // set while the call is under way
  io::completion* message_ = nullptr;
  void (*answered_)(io::completion&) noexcept = nullptr;
  task_local_binding* locals_ = nullptr;
  std::exception_ptr failure_;
  unsigned char marks_ = 0;      // accessed through std::atomic_ref by both threads
  bool shielded_ = false;        // set before the message is sent
  bool withdrawn_ = false;       // the function did not run; written on the target before the answer
  bool cancel_sent_ = false;     // used only at home
  bool cancel_arrived_ = false;  // used only on the target
  task_state* task_ = nullptr;   // used only on the target
  cancel_message cancel_;
};

}  // namespace gyre
