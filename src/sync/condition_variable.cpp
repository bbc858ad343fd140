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

// A waiter that was notified passes the notification on.
void condition_wait_op::on_cancel() noexcept {
  if (std::exchange(given_up_, true)) return;
  if (!was_notified_) {
    condition_->waiters_.remove(*this);
    lock_again();
  } else if (notified_.condition != nullptr) {
    notified_.condition->notify();
  }
}

void condition_wait_op::lock_again() noexcept {
  if (mutex_->try_lock())
    finish_soon();
  else
    mutex_->waiters_.push_back(*this);
}

condition_variable::~condition_variable() {
  for (notified_waiter* each = notified_.first(); each != nullptr; each = each->next) each->condition = nullptr;
}

void condition_variable::notify(std::size_t count) noexcept {
  owner_.check("notify");
  for (; count > 0 && !waiters_.empty(); --count) {
    auto& op = static_cast<condition_wait_op&>(*waiters_.first());
    waiters_.remove(op);
    op.was_notified_ = true;
    op.notified_.condition = this;
    notified_.link_last(op.notified_);
    op.lock_again();
  }
}

}  // namespace gyre
