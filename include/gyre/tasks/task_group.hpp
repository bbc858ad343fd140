// gyre/tasks/task_group.hpp: tasks that live and fail together.
#pragma once

#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/exception_group.hpp>
#include <gyre/io/node_list.hpp>
#include <gyre/tasks/spawn.hpp>

#include <cstddef>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre {

class child_tasks;

/// Waits until fewer than a number of children run. Several tasks may wait; they resume in the order of arrival.
///
/// A child may be started between the end of the last one and the resumption of the waiter, which then keeps waiting.
/// So a waiter stays in the list of waiters until it is resumed, even while it is in the ready queue.
class GYRE_API children_wait_op : public operation<children_wait_op> {
 public:
  bool try_now() noexcept;
  bool await_ready() noexcept { return event_loop::may_continue_inline() && try_now(); }
  void start() noexcept;
  void on_cancel() noexcept;
  void on_complete() noexcept;

 protected:
  enum class when_cancelled : bool { waits_on, stops };
  children_wait_op(child_tasks& children, std::size_t limit, when_cancelled behaviour) noexcept
      : children_(&children), limit_(limit), behaviour_(behaviour) {}
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }

 private:
  friend class child_tasks;
  friend class node_list<children_wait_op>;
  void wake() noexcept;
  void check_waits_for_others() const noexcept;

  children_wait_op* previous = nullptr;
  children_wait_op* next = nullptr;
  child_tasks* children_;  // null: destroyed, so no child is left
  std::size_t limit_;
  when_cancelled behaviour_;
  bool waking_ = false;
  bool asked_ = false;
  bool cancelled_ = false;
};

/// Cancel: stops waiting.
class GYRE_API [[nodiscard("co_await it")]] fewer_children_op : public children_wait_op {
 public:
  fewer_children_op(child_tasks& children, std::size_t limit) noexcept
      : children_wait_op(children, limit, when_cancelled::stops) {}
  void await_resume() const {
    if (cancelled()) throw_cancelled();
  }
};

/// Waits until no child is left. Not ended by a cancel, which reaches the children instead.
class GYRE_API [[nodiscard("co_await it")]] children_ended_op : public children_wait_op {
 public:
  static constexpr bool ignores_cancel = true;
  explicit children_ended_op(child_tasks& children) noexcept
      : children_wait_op(children, 1, when_cancelled::waits_on) {}
  void await_resume() const noexcept {}
};

/// A scope and the tasks in it: the base of group, gather and race. Lives in the frame of the coroutine that waits for
/// the children, and stops the program when that coroutine does not wait.
class GYRE_API child_tasks : public task_owner {
 public:
  /// Opens the scope in `task`; `ended` is called for each child that ends. With a shield the scope contains the
  /// children only: a cancel of `task` reaches the coroutine that created this object, but not the children.
  child_tasks(task_context& task, void (*ended)(child_tasks&, task_state&) noexcept,
              shielding shield = shielding::none) noexcept;
  /// The same for children whose scope lies below `parent` and in no task.
  child_tasks(cancel_scope& parent, void (*ended)(child_tasks&, task_state&) noexcept) noexcept;
  ~child_tasks();
  child_tasks(const child_tasks&) = delete;
  child_tasks& operator=(const child_tasks&) = delete;

  template <class T>
  task_state& start(task<T> child, const spawn_options& options, std::source_location where) {
    check_loop("spawn");
    return adopt(task_state::create(std::move(child), event_loop::current(), scope_, this, options, where));
  }
  /// Takes a task whose owner is this, and which has not begun.
  task_state& adopt(task_state& child) noexcept {
    child.mark_observed();
    ++running_;
    return child;
  }

  /// Runs `start_all()`, which starts children. If that throws because there was no memory for one of them, the running
  /// ones are cancelled, and `close` throws the exception when they have ended.
  template <class F>
  void launch(F start_all) noexcept {
    try {
      start_all();
    } catch (...) {
      not_launched_ = std::current_exception();
      scope_.cancel();
    }
  }

  [[nodiscard]] std::size_t running() const noexcept { return running_; }
  [[nodiscard]] cancel_scope& scope() noexcept { return scope_; }
  [[nodiscard]] children_ended_op all_ended() noexcept { return children_ended_op(*this); }
  [[nodiscard]] fewer_children_op fewer_than(std::size_t limit) noexcept { return {*this, limit}; }

 protected:
  /// In debug builds, stops the program when this belongs to another loop.
  void check_loop(const char* operation) const noexcept {
    if constexpr (checks_everything) expect_scope_on_own_loop(scope_, operation, "a group of tasks");
  }
  /// To be called when all have ended: closes the scope. Throws the exception that `launch` has caught.
  void close();
  /// Keeps an exception of a child or its owner. Reports it when there is no memory for that.
  static void collect(exception_collector& failures, const std::exception_ptr& failure) noexcept;

 private:
  friend class children_wait_op;
  struct waiter_line : node_list<children_wait_op> {
    using node_list::link_last;
    using node_list::unlink;
    void wake_if_fewer(std::size_t running) noexcept;
    void detach_all() noexcept;
  };

  cancel_scope scope_;
  std::size_t running_ = 0;
  waiter_line joining_;    // waiters until no child is left
  waiter_line throttled_;  // waiters until there are fewer
  void (*ended_)(child_tasks&, task_state&) noexcept;
  std::exception_ptr not_launched_;
  void on_child_ended(task_state& child) noexcept;
};

/// Tasks whose lifetimes are bound to a region of the code: `scope` does not return before all of them have ended.
///
/// The first failure cancels the others and the body. When all have stopped it is thrown, together with any others as
/// an exception_group. Thread: belongs to one loop.
class GYRE_API task_group : private child_tasks {
 public:
  /// Opens a group, runs `body(group)`, and waits for every task that was spawned in it.
  ///
  /// `body` is kept until then. It takes a task_group& and returns a task<>.
  /// Cancel: reaches the body and all children. Throws `cancelled` when all have ended, unless the cancel was the
  /// group's own.
  template <class Body>
  [[nodiscard]] GYRE_CORO_WRAPPER static task<> scope(Body&& body) {
    static_assert(
        requires(std::decay_t<Body>& f, task_group& group) { typename decltype(f(group))::promise_type; },
        "scope takes a function of task_group& that returns a task<>");
    static_assert(
        !may_be_destroyed_twice<Body>,
        "g++ 12 would destroy the captures of this lambda twice: name it first, and pass it without std::move");
    return run_scope(std::decay_t<Body>(std::forward<Body>(body)));
  }

  /// Starts a child, which runs from the caller's next suspension point on. If the group is cancelled before that, the
  /// child never runs. May also be called in other children.
  template <class T>
  task_handle<T> spawn(task<T> child GYRE_LIFETIMEBOUND, const spawn_options& options = {},
                       std::source_location where = std::source_location::current()) {
    return task_handle<T>(start(std::move(child), options, where));
  }
  template <class F>
  auto spawn(F function, const spawn_options& options = {},
             std::source_location where = std::source_location::current()) {
    static_assert(
        task_function<F>,
        "spawn takes a task, or a function without parameters that returns one; as_task makes a task of an operation");
    if constexpr (task_function<F>) return spawn(call_in_frame(std::move(function)), options, where);
  }

  /// Cancels the body and all children, including later ones. `scope` then returns normally.
  void cancel() noexcept {
    check_loop("cancel");
    child_tasks::scope().cancel();
  }

  /// The number of children that have not ended.
  [[nodiscard]] std::size_t size() const noexcept {
    check_loop("size");
    return running();
  }

  /// Waits, in the body, until no child is left; more may be spawned afterwards. Stops the program in a child, which
  /// would wait for itself.
  ///
  /// Cancel: not ended by a cancel, which reaches the children instead.
  [[nodiscard]] children_ended_op wait() noexcept { return all_ended(); }

 private:
  explicit task_group(task_context& task) noexcept : child_tasks(task, &child_failed) {}

  template <class Body>
  static task<> run_scope(Body body) {
    task_group group(co_await this_task_context{});
    try {
      co_await body(group);
    } catch (const cancelled&) {
      group.cut_off_ = true;
    } catch (...) {
      group.fail(std::current_exception());
    }
    co_await group.all_ended();
    group.finish();
  }

  static void child_failed(child_tasks& children, task_state& child) noexcept;
  void fail(const std::exception_ptr& failure) noexcept;
  void finish();

  exception_collector failures_;
  bool cut_off_ = false;  // a cancel of the scope has ended the body or a child
};

}  // namespace gyre
