// src/tasks/task_group.cpp: waiting for children, and what becomes of their failures.
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
  listen();
}

child_tasks::child_tasks(cancel_scope& parent, void (*ended)(child_tasks&, task_state&) noexcept) noexcept
    : ended_(ended) {
  scope_.attach(&parent);
  listen();
}

void child_tasks::listen() noexcept {
  child_ended = [](task_owner& owner, task_state& child) noexcept {
    auto& self = static_cast<child_tasks&>(owner);
    --self.running_;
    self.ended_(self, child);
    if (self.throttled_ != nullptr && self.running_ < self.throttled_->limit_)
      std::exchange(self.throttled_, nullptr)->finish_soon();
    if (self.running_ == 0 && self.waiter_ != nullptr) std::exchange(self.waiter_, nullptr)->finish_soon();
  };
}

child_tasks::~child_tasks() {
  if (running_ > 0) misuse("a task group was destroyed while its tasks run; co_await it");
}

void child_tasks::close() {
  scope_.close();
  if (not_launched_) std::rethrow_exception(std::exchange(not_launched_, nullptr));
}

void child_tasks::collect(exception_collector& failures, const std::exception_ptr& failure) noexcept {
  if (!failures.add(failure)) event_loop::report({failure, "of a group", std::source_location::current()});
}

bool children_ended_op::try_now() noexcept { return children_->running_ == 0; }

void children_ended_op::start() noexcept {
  operation_base::cancel = [](cancellable&) noexcept {};
  children_->waiter_ = this;
}

bool fewer_children_op::try_now() noexcept { return children_->running_ < limit_; }

void fewer_children_op::start() noexcept {
  operation_base::cancel = [](cancellable& c) noexcept {
    auto& self = static_cast<fewer_children_op&>(c);
    if (self.children_->throttled_ != &self) return;
    self.children_->throttled_ = nullptr;
    self.cancelled_ = true;
    self.finish_soon();
  };
  children_->throttled_ = this;
}

void fewer_children_op::await_resume() {
  if (cancelled_) throw_cancelled();
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
