// tests/io/pool_jobs.hpp: jobs for a pool of threads, and a gate that holds them up.
#pragma once

#include <gyre/io/blocking_pool.hpp>

#include <atomic>
#include <functional>
#include <utility>

namespace gyre::io {

struct job : blocking_job {
  std::function<void()> work;

  explicit job(std::function<void()> f) : work(std::move(f)) {
    run = [](blocking_job& j) noexcept { static_cast<job&>(j).work(); };
  }
};

/// Blocks the threads that enter it until it is opened.
class gate {
 public:
  void enter() {
    entered_.fetch_add(1);
    entered_.notify_all();
    open_.wait(false);
  }
  void open() {
    open_ = true;
    open_.notify_all();
  }
  void wait_for(int count) {
    for (int n = entered_; n < count; n = entered_) entered_.wait(n);
  }

 private:
  std::atomic<int> entered_{0};
  std::atomic<bool> open_{false};
};

}  // namespace gyre::io
