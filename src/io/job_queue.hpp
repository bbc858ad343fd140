// src/io/job_queue.hpp: jobs in the order in which they were queued.
#pragma once

#include <gyre/io/blocking_pool.hpp>

#include <cstddef>

namespace gyre::io {

/// A list of jobs that belong to somebody else. Every member takes constant time.
class job_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  void push_back(blocking_job& job) noexcept {
    job.next = nullptr;
    job.previous = last_;
    (last_ == nullptr ? first_ : last_->next) = &job;
    last_ = &job;
  }
  /// Only a job that is in this queue.
  void remove(blocking_job& job) noexcept {
    (job.previous == nullptr ? first_ : job.previous->next) = job.next;
    (job.next == nullptr ? last_ : job.next->previous) = job.previous;
    job.next = job.previous = nullptr;
  }
  /// Null when it is empty.
  [[nodiscard]] blocking_job* first() const noexcept { return first_; }

 private:
  blocking_job* first_ = nullptr;
  blocking_job* last_ = nullptr;
};

}  // namespace gyre::io
