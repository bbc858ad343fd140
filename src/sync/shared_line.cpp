// src/sync/shared_line.cpp: waiting for other threads.
#include <gyre/sync/shared_line.hpp>

#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <string>

namespace gyre {

void shared_line::wake_first() noexcept {
  shared_waiter& waiter = *first();
  remove(waiter);
  waiter.wake(waiter);
}

void shared_line::refuse_all() noexcept {
  while (!empty()) {
    first()->refused = true;
    wake_first();
  }
}

struct shared_lock::state {
  std::mutex mutex;
};

shared_lock::shared_lock() : state_(new state) {}
shared_lock::~shared_lock() { delete state_; }
void shared_lock::lock() noexcept { state_->mutex.lock(); }
void shared_lock::unlock() noexcept { state_->mutex.unlock(); }

struct sleeping_thread::state {
  std::binary_semaphore woken{0};
};

namespace {

void check_may_block(const char* operation) {
  const event_loop* const loop = event_loop::current_or_null();
  if (loop != nullptr && !loop->is_of_parent())
    throw std::logic_error(std::string(operation) +
                           ": called on the thread of a loop, whose tasks could not run meanwhile; co_await instead");
}

}  // namespace

sleeping_thread::sleeping_thread(shared_waiter& waiter, const char* operation)
    : state_((check_may_block(operation), new state)) {
  waiter.thread = this;
  waiter.wake = [](shared_waiter& w) noexcept { w.thread->state_->woken.release(); };
}
sleeping_thread::~sleeping_thread() { delete state_; }

void sleeping_thread::sleep(shared_lock& lock) noexcept {
  state_->woken.acquire();
  // The waking thread released the semaphore with the lock held. After this, it has left the semaphore.
  lock.lock();
  lock.unlock();
}

}  // namespace gyre
