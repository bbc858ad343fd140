// src/tasks/wait.cpp: waits for several tasks with one operation.
#include <gyre/tasks/wait.hpp>

#include <algorithm>

namespace gyre {

bool tasks_ended_op::is_enough(const task_state& ended) const noexcept {
  return when_ == wait_until::first_completed || (when_ == wait_until::first_exception && ended.has_failed());
}

bool tasks_ended_op::try_now() {
  running_ = 0;
  for (const task_state* each : tasks_) {
    if (!each->done())
      ++running_;
    else if (is_enough(*each))
      return true;
  }
  if (running_ == 0) return true;
  watchers_.reserve(running_);  // here, where it may throw
  return false;
}

void tasks_ended_op::start() noexcept {
  for (task_state* each : tasks_)
    if (!each->done()) watchers_.emplace_back(*each, *this).watch();
}

void tasks_ended_op::on_cancel() noexcept {
  if (stopped_) return;  // enough have ended: success beats cancel
  cancelled_ = true;
  stop();
}

void tasks_ended_op::stop() noexcept {
  stopped_ = true;
  for (watcher& each : watchers_) each.stop_watching();
  finish_soon();
}

void tasks_ended_op::one_ended(task_watcher& ended) noexcept {
  tasks_ended_op& self = *static_cast<watcher&>(ended).owner;
  if (self.stopped_) return;  // a task that was given twice
  if (--self.running_ == 0 || self.is_enough(ended.watched())) self.stop();
}

void tasks_ended_op::await_resume() {
  if (cancelled_) throw_cancelled();
}

ending_order::ending_order(const std::vector<task_state*>& tasks) {
  watchers_.reserve(tasks.size());
  ended_.reserve(tasks.size());
  for (task_state* each : tasks) {
    watcher& made = watchers_.emplace_back(*each, *this, watchers_.size());
    if (each->done())
      ended_.push_back(made.position);
    else
      made.watch();
  }
  std::sort(ended_.begin(), ended_.end(),
            [&](std::size_t a, std::size_t b) { return tasks[a]->ended_as() < tasks[b]->ended_as(); });
}

void ending_order::one_ended(task_watcher& ended) noexcept {
  auto& self = *static_cast<watcher&>(ended).owner;
  self.ended_.push_back(static_cast<watcher&>(ended).position);
  if (next_op* const op = std::exchange(self.waiting_, nullptr); op != nullptr) op->finish_soon();
}

void ending_order::next_op::start() noexcept { order_->waiting_ = this; }

void ending_order::next_op::on_cancel() noexcept {
  if (std::exchange(order_->waiting_, nullptr) != nullptr) finish_soon();  // otherwise a task has ended
}

std::size_t ending_order::next_op::await_resume() {
  if (!try_now()) throw_cancelled();
  return order_->ended_[order_->given_++];
}

}  // namespace gyre
