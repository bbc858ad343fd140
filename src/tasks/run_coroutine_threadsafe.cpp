// src/tasks/run_coroutine_threadsafe.cpp: a thread that waits for a task on another thread's loop.
#include <gyre/tasks/run_coroutine_threadsafe.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace gyre {

struct shared_outcome_base::gate {
  std::atomic<int> references{1};
  mutable std::mutex mutex;
  std::condition_variable opened;
  bool open = false;
};

shared_outcome_base::shared_outcome_base(event_loop& loop) : loop_(loop), gate_(new gate) {}
shared_outcome_base::~shared_outcome_base() { delete gate_; }

void shared_outcome_base::add_reference() noexcept { ++gate_->references; }
void shared_outcome_base::release() noexcept {
  if (--gate_->references == 0) delete this;
}

// Throws if nobody could end the task while the calling thread waits.
void shared_outcome_base::check_loop() const {
  if (done()) return;
  if (loop_.is_of_parent())
    throw std::logic_error("blocking_run: a forked child waits for a loop of its parent; give it a loop of its own");
  if (event_loop::current_or_null() == &loop_)
    throw std::logic_error("blocking_run: called on the thread of the loop, which would wait for itself");
}

void shared_outcome_base::wait() const {
  check_loop();
  std::unique_lock lock(gate_->mutex);
  gate_->opened.wait(lock, [this] { return gate_->open; });
}

bool shared_outcome_base::wait_for(std::chrono::nanoseconds limit) const {
  check_loop();
  using clock = std::chrono::steady_clock;
  const auto ended = [this] { return gate_->open; };
  std::unique_lock lock(gate_->mutex);
  const clock::time_point now = clock::now();
  if (limit < clock::time_point::max() - now) return gate_->opened.wait_until(lock, now + limit, ended);
  gate_->opened.wait(lock, ended);  // the limit is too long to add
  return true;
}

bool shared_outcome_base::done() const noexcept {
  const std::scoped_lock lock(gate_->mutex);
  return gate_->open;
}

void shared_outcome_base::cancel() noexcept {
  const std::scoped_lock lock(gate_->mutex);  // the loop exists until the task has ended
  if (gate_->open || cancel_message_.outcome != nullptr) return;
  add_reference();
  cancel_message_.outcome = this;
  cancel_message_.complete = call_member<&cancel_message::on_complete>;
  loop_.post(static_cast<io::completion&>(cancel_message_));
}

void shared_outcome_base::cancel_message::on_complete() noexcept {
  outcome->cancelled_ = true;
  if (outcome->task_ != nullptr) outcome->task_->root.cancel();
  outcome->release();
}

void shared_outcome_base::began(task_state& task) noexcept {
  if (done()) return;
  task_ = &task;
  if (cancelled_) task.root.cancel();
}

void shared_outcome_base::ended() noexcept {
  task_ = nullptr;
  const std::scoped_lock lock(gate_->mutex);
  gate_->open = true;
  gate_->opened.notify_all();
}

}  // namespace gyre
