// src/tasks/task_group.cpp: waits for children, and handles their failures.
#include <gyre/tasks/task_group.hpp>

namespace gyre {

const char* task_cancelled::what() const noexcept { return "the awaited task was cancelled"; }

child_tasks::child_tasks(task_context& task, void (*ended)(child_tasks&, task_state&) noexcept,
                         shielding shield) noexcept
    : scope_(shield), ended_(ended) {
  if (shield == shielding::shielded)
    scope_.attach(task.scope);
  else
    scope_.open(task);
  child_ended = call_member<&child_tasks::on_child_ended>;
}

child_tasks::child_tasks(cancel_scope& parent, void (*ended)(child_tasks&, task_state&) noexcept) noexcept
    : ended_(ended) {
  scope_.attach(&parent);
  child_ended = call_member<&child_tasks::on_child_ended>;
}

void child_tasks::on_child_ended(task_state& child) noexcept {
  --running_;
  ended_(*this, child);
  throttled_.wake_if_fewer(running_);
  if (running_ == 0) joining_.wake_if_fewer(0);
}

// Another waiter may have resumed first and destroyed this object. The waiters after it find no children left, too.
child_tasks::~child_tasks() {
  if (running_ > 0)
    misuse("a coroutine was destroyed in the middle of a group, gather or race; cancel and await it first");
  joining_.detach_all();
  throttled_.detach_all();
}

void child_tasks::waiter_line::wake_if_fewer(std::size_t running) noexcept {
  for (children_wait_op* each = first(); each != nullptr; each = each->next)
    if (running < each->limit_ && !each->waking_) each->wake();
}

void child_tasks::waiter_line::detach_all() noexcept {
  for (children_wait_op* each = first(); each != nullptr; each = each->next) each->children_ = nullptr;
}

void child_tasks::close() {
  scope_.close();
  if (not_launched_) std::rethrow_exception(std::exchange(not_launched_, nullptr));
}

void child_tasks::collect(exception_collector& failures, const std::exception_ptr& failure) noexcept {
  if (!failures.add(failure)) event_loop::report({failure, {}, {}, "a task of a group"});
}

bool children_wait_op::try_now() noexcept {
  children_->check_loop("waiting");
  return children_->running_ < limit_;
}

// Looks for the first child's scope between the waiting task and the group. If there is one, the waiting task is that
// child, or the child waits for it.
void children_wait_op::check_waits_for_others() const noexcept {
  const cancel_scope& group = children_->scope_;
  if (waiter == nullptr || waiter->context == group.task() || behaviour_ == when_cancelled::stops) return;
  const cancel_scope* each = waiter->context->scope;
  while (each != nullptr && each->parent() != &group) each = each->parent();
  if (each != nullptr && each->task() != nullptr && each->task() != group.task())
    misuse(
        "a task waits for its own task group or async_scope, so it waits for itself: wait in the body of the group, or "
        "in a task outside");
}

void children_wait_op::start() noexcept {
  check_waits_for_others();
  (behaviour_ == when_cancelled::stops ? children_->throttled_ : children_->joining_).link_last(*this);
  if (try_now()) wake();  // the waiting task has used up its budget
}

void children_wait_op::on_cancel() noexcept {
  if (behaviour_ == when_cancelled::waits_on) return;
  asked_ = true;
  if (!waking_) wake();
}

void children_wait_op::wake() noexcept {
  waking_ = true;
  complete = call_member<&children_wait_op::on_complete>;
  event_loop::current().schedule(*this);
}

void children_wait_op::on_complete() noexcept {
  waking_ = false;
  if (children_ != nullptr) {
    if (!try_now()) {
      if (!asked_) return;  // a child was started meanwhile: keeps waiting, at its place in the line
      cancelled_ = true;
    }
    (behaviour_ == when_cancelled::stops ? children_->throttled_ : children_->joining_).unlink(*this);
  }
  proceed(*this);
}

void task_group::child_failed(child_tasks& children, task_state& child) noexcept {
  auto& self = static_cast<task_group&>(children);
  if (!child.failure()) return;
  if (!child.was_cancelled())
    self.fail(child.failure());
  else if (children.scope().cancelled())
    self.cut_off_ = true;
}

void task_group::fail(const std::exception_ptr& failure) noexcept {
  collect(failures_, failure);
  cancel();
}

void task_group::finish() {
  const bool absorbed = child_tasks::scope().absorbs_cancel();
  close();
  failures_.rethrow();
  if (cut_off_ && !absorbed) throw_cancelled();
}

}  // namespace gyre
