// programs/gyre/serve/worker.hpp: one loop of the server, on its own thread.
#pragma once

#include "programs/gyre/serve/settings.hpp"
#include "programs/gyre/serve/traffic.hpp"

#include <gyre/coro/task.hpp>
#include <gyre/http/shared_connection_count.hpp>

#include <functional>
#include <thread>

namespace programs {

class worker {
 public:
  /// Starts the thread. It listens on the configured address, beside the other threads. A stop request ends its server.
  /// `ended` is called on the thread once it no longer serves.
  worker(const serve_settings& settings, traffic& counted, gyre::http::shared_connection_count& connections,
         std::function<void(bool failed)> ended);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  /// Waits for the thread.
  ~worker() { thread_.join(); }

 private:
  void run(const serve_settings& settings, traffic& counted);
  gyre::task<> serve(const serve_settings& settings, traffic& counted);

  gyre::http::shared_connection_count& connections_;
  std::function<void(bool failed)> ended_;
  std::thread thread_;
};

}  // namespace programs
