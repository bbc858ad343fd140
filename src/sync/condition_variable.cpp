// src/sync/condition_variable.cpp: waits for the condition, then for the mutex.
#include <gyre/sync/condition_variable.hpp>

#include <utility>

namespace gyre {

void condition_wait_op::start() noexcept {
  operation_base::cancel = [](cancellable& c) noexcept {
    auto& self = static_cast<condition_wait_op&>(static_cast<operation_base&>(c));
    if (std::exchange(self.given_up_, true)) return;
    condition_variable& condition = *self.condition_;
    if (self.stands_in != &condition.waiters_) return condition.notify();  // notified: another waiter takes its place
    condition.waiters_.remove(self);
    self.lock_again();
  };
  grant = [](wait_node& node) noexcept { static_cast<condition_wait_op&>(node).finish_soon(); };
  condition_->waiters_.push_back(*this);
  mutex_ = condition_->mutex_;
  if (!mutex_->is_locked())
    misuse("wait() of a condition_variable whose mutex is not locked: co_await mutex.scoped_lock() first");
  holder_ = mutex_->holder_;
  mutex_->unlock();
}

void condition_wait_op::lock_again() noexcept {
  mutex& wanted = *condition_->mutex_;
  if (wanted.try_lock())
    finish_soon();
  else
    wanted.waiters_.push_back(*this);
}

void condition_variable::notify(std::size_t count) noexcept {
  for (; count > 0 && !waiters_.empty(); --count) {
    auto& op = static_cast<condition_wait_op&>(*waiters_.first());
    waiters_.remove(op);
    op.lock_again();
  }
}

}  // namespace gyre
