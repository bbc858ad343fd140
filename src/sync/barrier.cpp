// src/sync/barrier.cpp: the rounds of a barrier.
#include <gyre/sync/barrier.hpp>

namespace gyre {

bool barrier_wait_op::try_now() noexcept {
  barrier_->owner_.check("wait");
  refused = barrier_->broken_;
  if (refused) return true;
  position_ = barrier_->waiting();
  if (position_ + 1 < barrier_->parties_) return false;
  // Renumbers the positions: some waiters may have been cancelled meanwhile.
  for (std::size_t position = 0; wait_node* const first = barrier_->waiters_.first(); ++position) {
    static_cast<barrier_wait_op&>(*first).position_ = position;
    barrier_->waiters_.grant_one();
  }
  return true;
}

wait_queue& barrier_wait_op::waits_in() noexcept { return barrier_->waiters_; }

std::size_t barrier::waiting() const noexcept {
  owner_.check("waiting");
  std::size_t count = 0;
  for (const wait_node* each = waiters_.first(); each != nullptr; each = each->next) ++count;
  return count;
}

void barrier::abort() noexcept {
  owner_.check("abort");
  broken_ = true;
  waiters_.refuse_all();
}

void barrier::reset() noexcept {
  owner_.check("reset");
  broken_ = false;
  waiters_.refuse_all();
}

}  // namespace gyre
