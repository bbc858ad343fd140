// src/sync/shared_mutex.cpp: decides who gets the lock next.
#include <gyre/sync/shared_mutex.hpp>

namespace gyre {

bool shared_mutex_lock_op::try_now() noexcept {
  mutex_->owner_.check(shared_ ? "lock_shared" : "lock");
  return shared_ ? mutex_->try_lock_shared() : mutex_->try_lock();
}
bool shared_mutex_lock_op::is_free() const noexcept { return mutex_->is_free(shared_); }
wait_queue& shared_mutex_lock_op::waits_in() noexcept { return mutex_->waiters_; }

// A writer that leaves the line may have been the only obstacle for the readers after it. They are let in now, because
// the mutex may be gone when the task of this operation resumes.
void shared_mutex_lock_op::on_cancel() noexcept {
  queued_operation::on_cancel();
  if (withdrawn()) mutex_->let_in();
}

bool shared_mutex::try_lock() noexcept {
  owner_.check("try_lock");
  if (!is_free(false)) return false;
  return written_ = true;
}

bool shared_mutex::try_lock_shared() noexcept {
  owner_.check("try_lock_shared");
  if (!is_free(true)) return false;
  ++readers_;
  return true;
}

void shared_mutex::unlock() noexcept {
  owner_.check("unlock");
  if (!written_)
    misuse("a shared_mutex was unlocked that no writer has locked: let a guard of scoped_lock() unlock it");
  written_ = false;
  let_in();
}

void shared_mutex::unlock_shared() noexcept {
  owner_.check("unlock_shared");
  if (readers_ == 0)
    misuse("a shared_mutex was unlocked that no reader has locked: let a guard of scoped_lock_shared() unlock it");
  --readers_;
  let_in();
}

void shared_mutex::let_in() noexcept {
  while (!waiters_.empty() && !written_) {
    const bool reader = static_cast<shared_mutex_lock_op&>(*waiters_.first()).shared_;
    if (!reader && readers_ > 0) return;
    if (reader)
      ++readers_;
    else
      written_ = true;
    waiters_.grant_one();
  }
}

}  // namespace gyre
