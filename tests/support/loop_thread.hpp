// tests/support/loop_thread.hpp: a loop on a thread of its own.
#pragma once

#include <gyre/gyre.hpp>

#include <semaphore>
#include <thread>

namespace gyre_test {

/// Runs a loop until the end of the object, or until stop().
class loop_thread {
 public:
  loop_thread() : thread_([this] { run(); }) { there_.acquire(); }
  loop_thread(const loop_thread&) = delete;
  loop_thread& operator=(const loop_thread&) = delete;
  ~loop_thread() { stop(); }

  void stop() {
    if (!thread_.joinable()) return;
    loop_->post([this]() noexcept { stopped_.set(); });
    thread_.join();
  }
  [[nodiscard]] gyre::event_loop& loop() const noexcept { return *loop_; }
  [[nodiscard]] std::thread::id id() const noexcept { return thread_.get_id(); }

 private:
  void run() {
    auto body = [this]() -> gyre::task<> {
      loop_ = &gyre::event_loop::current();
      there_.release();
      co_await stopped_.wait();
    };
    gyre::run(body);
  }

  gyre::event stopped_;
  gyre::event_loop* loop_ = nullptr;
  std::binary_semaphore there_{0};
  std::thread thread_;
};

}  // namespace gyre_test
