// src/io/offloaded_calls.cpp: hands requests to the threads of the pool, and back.
#include "offloaded_calls.hpp"

#include <cerrno>
#include <utility>

namespace gyre::io {

void offloaded_calls::submit(file_request& r) noexcept {
  r.thread = this;
  r.run = &run_on_thread;
  ++outstanding_;
  blocking_pool::for_files().submit(r);
}

void offloaded_calls::cancel(file_request& r) noexcept {
  if (blocking_pool::withdraw(r)) append(r, -ECANCELED);
}

void offloaded_calls::run_on_thread(blocking_job& job) noexcept {
  auto& r = static_cast<file_request&>(job);
  r.thread->append(r, perform(r));
}

// Wakes the backend while the lock is held: the backend does not end before the thread has released it.
void offloaded_calls::append(file_request& r, int result) noexcept {
  const std::scoped_lock lock(mutex_);
  r.result = result;
  const bool first = ended_.empty();
  ended_.push_back(r);
  ++ended_count_;
  if (first) owner_->wake();
  ended_one_.notify_one();
}

void offloaded_calls::take_ended(ready_list& list) noexcept {
  const std::scoped_lock lock(mutex_);
  list.splice_back(ended_);
  outstanding_ -= std::exchange(ended_count_, 0);
}

void offloaded_calls::settle(ready_list& list) noexcept {
  {
    std::unique_lock lock(mutex_);
    ended_one_.wait(lock, [this] { return ended_count_ == outstanding_; });
  }
  take_ended(list);
}

}  // namespace gyre::io
