// gyre/tasks/task_state.hpp: a spawned task: its outermost coroutine, who waits for it, who owns it.
// For authors of ways to run tasks; users hold a task_handle.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/loop/operation.hpp>

#include <cstdint>
#include <exception>
#include <source_location>
#include <string_view>

namespace gyre {

struct spawn_options {
  std::string_view name = {};  ///< for people: logs, call stacks, the list of tasks. Copied.
  /// Begins inside the call of spawn and runs there until it first waits; else when the caller next waits.
  bool eager = false;
};

struct task_state;

/// Who is told when a task has ended, before anybody who awaits it. Called on the loop, from the ready queue.
struct task_owner {
  void (*child_ended)(task_owner&, task_state&) noexcept = nullptr;
};

/// Waits for a task to end. Cancel: stops waiting; the task goes on.
class GYRE_API [[nodiscard("co_await it")]] join_op : public operation<join_op> {
 public:
  explicit join_op(task_state& task) noexcept : task_(&task) {}
  bool try_now() noexcept;
  void start() noexcept;
  void await_resume();

 private:
  friend struct task_state;
  task_state* task_;
  join_op* next_ = nullptr;
  join_op** link_ = nullptr;  // null: not in the list any more
};

/// Shared by the running task and by its handle; freed when both have let go.
struct GYRE_API task_state final : io::completion, task_context {
 private:
  // First, so that they lie in what the flag of task_context leaves free of its word.
  bool done_ = false;
  bool observed_ = false;
  std::uint16_t references_ = 1;  // the running task's own

 public:
  /// Takes over the outermost frame of a task; `scope` becomes the task's outermost scope, below `parent`.
  static task_state& create(frame_base& frame, cancel_scope& parent, task_owner* owner, const spawn_options& options,
                            std::source_location where);

  template <class T>
  static task_state& create(task<T>&& started, cancel_scope& parent, task_owner* owner, const spawn_options& options,
                            std::source_location where) {
    task_state& state = create(started.frame(), parent, owner, options, where);
    (void)std::move(started).release();  // only now: when there was no memory the task still frees its frame
    return state;
  }

  template <class T>
  [[nodiscard]] typename task<T>::promise_type& promise() const noexcept {
    return static_cast<typename task<T>::promise_type&>(*outermost);
  }

  [[nodiscard]] bool done() const noexcept { return done_; }
  /// After the end: the exception that left it, `cancelled` included; null when it returned.
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return outermost->failure; }
  /// After the end: it ended because of a cancel.
  [[nodiscard]] bool was_cancelled() const noexcept;
  [[nodiscard]] std::string_view name() const noexcept;

  void add_reference() noexcept { ++references_; }
  void release() noexcept;
  /// Somebody will see the failure: it is not reported as a background failure.
  void mark_observed() noexcept { observed_ = true; }

  frame_base* outermost;
  cancel_scope root;
  std::source_location spawned_at;

 private:
  friend class join_op;
  struct task_name;
  explicit task_state(frame_base& frame) noexcept : outermost(&frame) {}
  ~task_state() = default;
  static void begin(io::completion& c) noexcept;
  static void coroutine_ended(task_context& context) noexcept;
  void finish() noexcept;
  void wake_joiners() noexcept;

  task_owner* owner_ = nullptr;
  join_op* joiners_ = nullptr;
  task_name* name_ = nullptr;  // null: it has none
};

}  // namespace gyre
