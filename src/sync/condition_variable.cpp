// src/sync/condition_variable.cpp: waits for the condition, then for the mutex.
#include <gyre/sync/condition_variable.hpp>

#include <utility>

namespace gyre {

void condition_wait_op::start() noexcept {
  condition_->owner_.check("wait");
  grant = call_member<&condition_wait_op::on_grant>;
  condition_->waiters_.push_back(*this);
  mutex_ = condition_->mutex_;
  if (!mutex_->is_locked())
    misuse("wait() of a condition_variable whose mutex is not locked: co_await mutex.scoped_lock() first");
  holder_ = mutex_->holder_;
  mutex_->unlock();
}

void condition_wait_op::on_cancel() noexcept {
  if (std::exchange(given_up_, true)) return;
  if (stands_in != &condition_->waiters_) return condition_->notify();  // notified: another waiter takes its place
  condition_->waiters_.remove(*this);
  lock_again();
}

void condition_wait_op::lock_again() noexcept {
  mutex& wanted = *condition_->mutex_;
  if (wanted.try_lock())
    finish_soon();
  else
    wanted.waiters_.push_back(*this);
}

void condition_variable::notify(std::size_t count) noexcept {
  owner_.check("notify");
  for (; count > 0 && !waiters_.empty(); --count) {
    auto& op = static_cast<condition_wait_op&>(*waiters_.first());
    waiters_.remove(op);
    op.lock_again();
  }
}

}  // namespace gyre
