// gyre/coro/cancel_scope.hpp: a region of a task, with everything started inside it, that can be cancelled.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/context.hpp>

namespace gyre {

enum class shielding : bool { none, shielded };

/// A node in the tree of cancellation: everything below a node is cancelled together.
///
/// Scopes nest: inside one task as a stack, and across tasks because the scope of a spawned task is a child of the
/// scope that owns it. Cancelling is level-triggered. It marks the scope and all scopes below it, and ends the
/// operations in which their tasks are suspended. Every later await inside them throws `cancelled`, so a cancel between
/// two awaits is never missed. A shielded scope and the scopes below it are not affected.
///
/// Thread:   belongs to the loop of its task.
/// Lifetime: must not move while open; its children must be closed before it. The program is stopped otherwise.
class GYRE_API cancel_scope {
 public:
  explicit cancel_scope(shielding shield = shielding::none) noexcept : shielded_(shield == shielding::shielded) {}
  /// Opens the first scope of `task`, whose `scope` and `open` say so already. `parent`, a scope of another task or of
  /// a loop, owns that task. Writes each member once, because every spawn does this.
  cancel_scope(task_context& task, cancel_scope& parent) noexcept
      : parent_(&parent), next_(parent.children_), link_(&parent.children_), task_(&task) {
    if (next_ != nullptr) next_->link_ = &next_;
    parent.children_ = this;
    if (parent.cancelled_) [[unlikely]]
      cancelled_ = task.cancel_pending = true;
  }
  cancel_scope(const cancel_scope&) = delete;
  cancel_scope& operator=(const cancel_scope&) = delete;
  ~cancel_scope() { close(); }

  /// Makes this the innermost scope of `task`, below the previous innermost one. If the parent is cancelled, this scope
  /// is cancelled from the start, unless it is shielded.
  void open(task_context& task) noexcept { open(task, task.scope); }

  /// The same for the first scope of a task; `parent`, a scope of another task, owns that task.
  void open(task_context& task, cancel_scope* parent) noexcept {
    attach(parent);
    task_ = &task;
    task.scope = this;
    ++task.open;
    task.cancel_pending = cancelled_;
  }

  /// Makes this a scope that belongs to no task and is only a parent of other scopes.
  void attach(cancel_scope* parent) noexcept {
    parent_ = parent;
    if (parent == nullptr) return;
    cancelled_ = !shielded_ && parent->cancelled_;
    next_ = parent->children_;
    if (next_ != nullptr) next_->link_ = &next_;
    parent->children_ = this;
    link_ = &parent->children_;
  }

  /// Ends the scope. The enclosing scope becomes the innermost one again. Idempotent.
  void close() noexcept {
    if (link_ != nullptr) unlink();
    if (children_ != nullptr || (task_ != nullptr && task_->scope != this)) [[unlikely]]
      stop_out_of_order();
    if (task_ != nullptr) {
      // The first scope of a task has its parent in another task, or in none.
      cancel_scope* const outer = parent_ != nullptr && parent_->task_ == task_ ? parent_ : nullptr;
      task_->scope = outer;
      --task_->open;
      task_->cancel_pending = outer != nullptr && outer->cancelled_;
      task_ = nullptr;
    }
  }

  /// Ends the first scope of a task that has ended. Its parent is a scope of another task, or of a loop. It is
  /// forgotten, because it may end before the arguments of the task, which still ask ends_abruptly().
  void close_with_task() noexcept {
    unlink();
    if (children_ != nullptr || task_->scope != this) [[unlikely]]
      stop_out_of_order();
    if (task_->cancel_pending) [[unlikely]]
      cut_off_ = ends_abruptly(task_);
    parent_ = nullptr;
    task_ = nullptr;
  }

  /// Cancels this scope and all scopes below it, and counts the call. Never resumes a task before it returns.
  void cancel() noexcept;

  /// Reverts one `cancel` of this very scope. After the last one is reverted, this scope and the scopes below it remain
  /// cancelled only if another scope's cancel covers them. An operation that was asked to end still ends. No-op when
  /// there is no cancel to revert.
  void uncancel() noexcept;

  /// True when awaits in this scope fail because it, or a scope around it, has been cancelled.
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }

  /// True when a cancel of the scope around it does not reach this scope.
  [[nodiscard]] bool is_shielded() const noexcept { return shielded_; }

  /// True when a time limit cancels this scope. Used by the check that finds waits without an end.
  [[nodiscard]] bool is_limited() const noexcept { return limited_; }
  void set_limited() noexcept { limited_ = true; }

  /// Cancels this scope because its time to end in good order is over. A stream that is destroyed in it must not look
  /// complete to its peer: see ends_abruptly().
  void cut_off() noexcept {
    cut_off_ = true;
    cancel();
  }
  /// True while the task unwinds because a scope around it was cut off. Scopes above a shield do not matter. False for
  /// null, which means that no task runs.
  [[nodiscard]] static bool ends_abruptly(const task_context* task) noexcept {
    if (task == nullptr || !task->cancel_pending) return false;
    const cancel_scope* each = task->scope;
    while (each != nullptr && !each->cut_off_) each = each->shielded_ ? nullptr : each->parent_;
    return each != nullptr;
  }

  /// The number of `cancel` calls on this very scope that were not reverted.
  [[nodiscard]] unsigned cancel_requests() const noexcept { return cancel_requests_; }

  /// True when a cancellation that arrives in this scope is its own and ends here: the scope around it is not
  /// cancelled.
  [[nodiscard]] bool absorbs_cancel() const noexcept {
    return cancel_requests_ > 0 && (parent_ == nullptr || !parent_->cancelled_);
  }

  // The tree, for walkers (inspection, shutdown).
  [[nodiscard]] cancel_scope* parent() const noexcept { return parent_; }
  [[nodiscard]] cancel_scope* first_child() const noexcept { return children_; }
  [[nodiscard]] cancel_scope* next_sibling() const noexcept { return next_; }
  [[nodiscard]] task_context* task() const noexcept { return task_; }

 private:
  [[noreturn]] static void stop_out_of_order() noexcept;
  void unlink() noexcept {
    *link_ = next_;
    if (next_ != nullptr) next_->link_ = link_;
    link_ = nullptr;
  }
  void mark() noexcept;
  void inherit() noexcept;

  cancel_scope* parent_ = nullptr;
  cancel_scope* children_ = nullptr;
  cancel_scope* next_ = nullptr;
  cancel_scope** link_ = nullptr;  // the pointer to this scope in the parent's list; null when in no list
  task_context* task_ = nullptr;
  bool shielded_ = false;
  bool cancelled_ = false;
  bool limited_ = false;
  bool cut_off_ = false;
  unsigned cancel_requests_ = 0;
};

}  // namespace gyre
