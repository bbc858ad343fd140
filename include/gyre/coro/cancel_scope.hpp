// gyre/coro/cancel_scope.hpp: a region of a task, with everything started inside it, that can be cancelled.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/context.hpp>

namespace gyre {

enum class shielding : bool { none, shielded };

/// A node in the tree of what may be cancelled together.
///
/// Scopes nest: inside one task as a stack, and across tasks because the scope of a spawned task is a child of
/// the scope that owns it. Cancelling is level-triggered: it marks the scope and all scopes below it, ends the
/// operations that their tasks are suspended in, and makes every later await inside them throw `cancelled`,
/// so that a cancel between two awaits is never missed. A shielded scope, and what is below it, stays as it is.
///
/// Thread:   belongs to the loop of its task.
/// Lifetime: must not move while open; its children must be closed before it. The program is stopped otherwise.
class GYRE_API cancel_scope {
 public:
  explicit cancel_scope(shielding shield = shielding::none) noexcept : shielded_(shield == shielding::shielded) {}
  cancel_scope(const cancel_scope&) = delete;
  cancel_scope& operator=(const cancel_scope&) = delete;
  ~cancel_scope() { close(); }

  /// Makes this the innermost scope of `task`, below the one that was. A cancelled parent makes it
  /// cancelled from the start, unless it is shielded.
  void open(task_context& task) noexcept { open(task, task.scope); }

  /// The same for the first scope of a task that `parent`, a scope of another task, owns.
  void open(task_context& task, cancel_scope* parent) noexcept {
    attach(parent);
    task_ = &task;
    task.scope = this;
    ++task.open;
    task.cancel_pending = cancelled_;
  }

  /// Makes it a scope of no task: only the parent of others.
  void attach(cancel_scope* parent) noexcept {
    parent_ = parent;
    if (parent == nullptr) return;
    cancelled_ = !shielded_ && parent->cancelled_;
    next_ = parent->children_;
    if (next_ != nullptr) next_->link_ = &next_;
    parent->children_ = this;
    link_ = &parent->children_;
  }

  /// Ends the scope: the enclosing one is the innermost again. Idempotent.
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

  /// Ends the first scope of a task that has ended. Its parent is a scope of another task, or of a loop.
  void close_with_task() noexcept {
    unlink();
    if (children_ != nullptr || task_->scope != this) [[unlikely]]
      stop_out_of_order();
    task_->scope = nullptr;
    task_ = nullptr;
  }

  /// Cancels this scope and all below it, and counts how often. Never resumes anybody before it returns.
  void cancel() noexcept;

  /// Takes one `cancel` of this very scope back. Once all are taken back, the scope and the scopes below it are cancelled only
  /// as far as others have cancelled them. An operation that was asked to end still ends. No-op when nothing is left to take back.
  void uncancel() noexcept;

  /// An await in this scope fails: it, or a scope around it, has been cancelled.
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }

  /// True when a time limit cancels this scope. For the check that finds waits without an end.
  [[nodiscard]] bool is_limited() const noexcept { return limited_; }
  void set_limited() noexcept { limited_ = true; }

  /// How often `cancel` was called on this very scope and not taken back.
  [[nodiscard]] unsigned cancel_requests() const noexcept { return cancel_requests_; }

  /// The cancellation that arrives in this scope is its own and ends here: the scope around it is not cancelled.
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
  cancel_scope** link_ = nullptr;  // what points at this one in the parent's list; null: in no list
  task_context* task_ = nullptr;
  bool shielded_;
  bool cancelled_ = false;
  bool limited_ = false;
  unsigned cancel_requests_ = 0;
};

}  // namespace gyre
