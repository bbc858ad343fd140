// programs/gyre/serve/worker.hpp: one loop of the server, on a thread of its own.
#pragma once

#include "programs/gyre/serve/settings.hpp"
#include "programs/gyre/serve/traffic.hpp"

#include <gyre/http/shared_connection_count.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/tasks/task_handle.hpp>

#include <mutex>
#include <string>
#include <thread>

namespace programs {

class worker {
 public:
  /// Starts the thread, which listens where `settings` say, beside the others.
  worker(const serve_settings& settings, traffic& counted, gyre::http::shared_connection_count& connections);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  /// Waits for the thread.
  ~worker();

  /// Waits for the end of the thread. Idempotent.
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  /// Tells it to drain. Thread: any. Idempotent.
  void stop();
  /// It ended because of an error, which has been printed. After the end.
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  void run(const serve_settings& settings, traffic& counted);
  gyre::task<> serve(const serve_settings& settings, traffic& counted);

  std::mutex mutex_;
  gyre::http::shared_connection_count& connections_;
  gyre::event_loop* loop_ = nullptr;  // while it serves
  gyre::task_handle<void>* serving_ = nullptr;
  bool stopped_ = false;
  bool failed_ = false;
  std::thread thread_;
};

}  // namespace programs
