// src/tasks/wait.cpp: waiting for several tasks with one operation.
#include <gyre/tasks/wait.hpp>

namespace gyre {

bool tasks_ended_op::enough() const noexcept {
  bool all = true;
  for (const task_state* each : tasks_) {
    if (!each->done())
      all = false;
    else if (when_ == wait_until::first_completed || (when_ == wait_until::first_exception && each->failure()))
      return true;
  }
  return all;
}

bool tasks_ended_op::try_now() {
  if (enough()) return true;
  joins_.reserve(tasks_.size());  // here, where it may throw
  for (task_state* each : tasks_)
    if (!each->done()) joins_.emplace_back(*each);
  return false;
}

void tasks_ended_op::start() noexcept {
  operation_base::cancel = [](cancellable& c) noexcept {
    auto& self = static_cast<tasks_ended_op&>(static_cast<operation_base&>(c));
    self.cancelled_ = true;
    self.stop();
  };
  waiting_ = joins_.size();
  for (joining& each : joins_) {
    each.waiter = waiter;
    each.proceed = &one_ended;
    each.owner = this;
    each.start();
  }
}

// Those that still wait end their waiting, each through the ready queue.
void tasks_ended_op::stop() noexcept {
  if (stopping_) return;
  stopping_ = true;
  for (joining& each : joins_) each.cancel(each);
}

void tasks_ended_op::one_ended(operation_base& op) noexcept {
  tasks_ended_op& self = *static_cast<joining&>(op).owner;
  --self.waiting_;
  if (self.waiting_ > 0 && !self.stopping_ && self.enough()) self.stop();
  if (self.waiting_ == 0) self.proceed(self);
}

void tasks_ended_op::await_resume() {
  if (cancelled_ && !enough()) throw_cancelled();
}

}  // namespace gyre
