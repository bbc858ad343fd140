// programs/gyre/serve/worker.cpp: the life of a thread of the server.
#include "programs/gyre/serve/worker.hpp"

#include "programs/common/server_options.hpp"
#include "programs/gyre/serve/observer.hpp"
#include "programs/gyre/serve/site.hpp"

#include <gyre/coro/cancelled.hpp>
#include <gyre/runtime/run.hpp>

#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <utility>

namespace programs {

worker::worker(const serve_settings& settings, traffic& counted, gyre::http::shared_connection_count& connections)
    : connections_(connections), thread_([this, &settings, &counted] { run(settings, counted); }) {}

worker::~worker() {
  stop();
  join();
}

void worker::run(const serve_settings& settings, traffic& counted) {
  try {
    gyre::run_options options = run_with(settings.backend);
    options.handle_signals = false;
    gyre::run(serve(settings, counted), options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    failed_ = true;
    const std::scoped_lock lock(mutex_);
    if (!stopped_) ::raise(SIGTERM);  // a server with fewer threads than it was asked for is no server to rely on
  }
}

gyre::task<> worker::serve(const serve_settings& settings, traffic& counted) {
  observer heard(settings, counted);
  gyre::http::server server(make_server_options(settings, heard, connections_));
  auto serving =
      gyre::spawn(server.run(), {.name = "server", .eager = true});  // it drains, even when it is stopped now
  {
    const std::scoped_lock lock(mutex_);
    loop_ = &gyre::event_loop::current();
    serving_ = &serving;
    if (stopped_) serving.cancel();
  }
  co_await serving.wait();
  const std::scoped_lock lock(mutex_);
  loop_ = nullptr;
  serving.result();
}

void worker::stop() {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(stopped_, true) || loop_ == nullptr) return;
  // The lock keeps the loop alive during the post, and what is posted runs before the loop can end.
  loop_->post([this] {
    if (!serving_->done()) serving_->cancel();
  });
}

}  // namespace programs
