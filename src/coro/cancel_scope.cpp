// src/coro/cancel_scope.cpp: marks a tree of scopes as cancelled.
#include <gyre/coro/cancel_scope.hpp>
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>

namespace gyre {

void throw_cancelled() { throw cancelled{}; }

void cancel_scope::stop_out_of_order() noexcept {
  misuse(
      "a cancel scope (of a timeout, a shield or a group) was closed while a scope inside it is still open; "
      "scopes of a task must be closed in the reverse order of their opening, and an async_scope before its loop ends");
}

void cancel_scope::mark() noexcept {
  cancelled_ = true;
  if (task_ == nullptr || task_->scope != this) return;
  task_->cancel_pending = true;
  if (task_->leaf != nullptr) task_->leaf->cancel(*task_->leaf);
}

void cancel_scope::cancel() noexcept {
  ++cancel_requests_;
  if (cancelled_) return;
  // Depth first along the links, not recursive: tasks can be nested deeper than the stack allows.
  cancel_scope* scope = this;
  scope->mark();
  for (;;) {
    cancel_scope* next = scope->children_;
    for (;;) {
      while (next != nullptr && (next->shielded_ || next->cancelled_)) next = next->next_;
      if (next != nullptr || scope == this) break;
      next = scope->next_;
      scope = scope->parent_;
    }
    if (next == nullptr) return;
    scope = next;
    scope->mark();
  }
}

// A scope is cancelled if it was cancelled itself, or if it inherits that from its parent.
void cancel_scope::inherit() noexcept {
  cancelled_ = cancel_requests_ > 0 || (!shielded_ && parent_ != nullptr && parent_->cancelled_);
  if (task_ != nullptr && task_->scope == this) task_->cancel_pending = cancelled_;
}

void cancel_scope::uncancel() noexcept {
  if (cancel_requests_ > 0) --cancel_requests_;
  if (cancel_requests_ > 0) return;
  if (parent_ != nullptr && link_ == nullptr) return;  // closed: the enclosing scope may be gone
  cancel_scope* scope = this;
  for (;;) {
    scope->inherit();
    cancel_scope* next = scope->children_;
    while (next == nullptr && scope != this) {
      next = scope->next_;
      scope = scope->parent_;
    }
    if (next == nullptr) return;
    scope = next;
  }
}

}  // namespace gyre
