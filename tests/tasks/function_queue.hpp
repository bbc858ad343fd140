// tests/tasks/function_queue.hpp: an executor as programs have them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace gyre_test {

/// Threads that take std::functions from a queue.
class function_queue {
 public:
  explicit function_queue(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  function_queue& operator=(function_queue&&) = delete;
  ~function_queue() {
    {
      const std::scoped_lock lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    for (std::thread& each : threads_) each.join();
  }
  void execute(std::function<void()> work) {
    {
      const std::scoped_lock lock(mutex_);
      queue_.push_back(std::move(work));
    }
    changed_.notify_one();
  }
  /// Destroys what is queued.
  void clear() {
    std::deque<std::function<void()>> dropped;
    const std::scoped_lock lock(mutex_);
    dropped.swap(queue_);
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const auto work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gyre_test
