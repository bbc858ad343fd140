// programs/gyre/serve/worker.hpp: one loop of the server, on a thread of its own.
#pragma once

#include "programs/gyre/serve/settings.hpp"
#include "programs/gyre/serve/traffic.hpp"

#include <gyre/http/shared_connection_count.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/tasks/task_handle.hpp>

#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace programs {

class worker {
 public:
  /// Starts the thread, which listens where `settings` say, beside the others. `ended` is called on it when it serves no more,
  /// because of an error or after stop.
  worker(const serve_settings& settings, traffic& counted, gyre::http::shared_connection_count& connections,
         std::function<void(bool failed)> ended);
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

 private:
  class registration;
  void run(const serve_settings& settings, traffic& counted);
  gyre::task<> serve(const serve_settings& settings, traffic& counted);

  std::mutex mutex_;
  gyre::http::shared_connection_count& connections_;
  std::function<void(bool failed)> ended_;
  gyre::event_loop* loop_ = nullptr;            // while it serves
  gyre::task_handle<void>* serving_ = nullptr;  // the same, for the loop only
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace programs
