// programs/gyre/serve/worker.cpp: the life of a thread of the server.
#include "programs/gyre/serve/worker.hpp"

#include "programs/common/server_options.hpp"
#include "programs/gyre/serve/observer.hpp"
#include "programs/gyre/serve/site.hpp"

#include <gyre/coro/cancelled.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/runtime/run.hpp>

#include <exception>
#include <utility>

namespace programs {

worker::worker(const serve_settings& settings, traffic& counted, gyre::http::shared_connection_count& connections,
               std::function<void(bool failed)> ended)
    : connections_(connections),
      ended_(std::move(ended)),
      thread_([this, &settings, &counted] { run(settings, counted); }) {}

worker::~worker() {
  stop();
  join();
}

void worker::run(const serve_settings& settings, traffic& counted) {
  bool failed = false;
  try {
    gyre::run_options options = run_with(settings.backend);
    options.handle_signals = false;
    gyre::run(serve(settings, counted), options);
  } catch (const std::exception& error) {
    gyre::print_diagnostic({"error: ", error.what()});
    failed = true;
  }
  ended_(failed);
}

/// Makes the server one that can be stopped, for the duration of its run.
class worker::registration {
 public:
  registration(worker& owner, gyre::task_handle<void>& serving) : owner_(owner) {
    const std::scoped_lock lock(owner_.mutex_);
    owner_.loop_ = &gyre::event_loop::current();
    owner_.serving_ = &serving;
    if (owner_.stopped_) serving.cancel();
  }
  registration(const registration&) = delete;
  registration& operator=(const registration&) = delete;
  ~registration() {
    const std::scoped_lock lock(owner_.mutex_);
    owner_.loop_ = nullptr;
    owner_.serving_ = nullptr;
  }

 private:
  worker& owner_;
};

gyre::task<> worker::serve(const serve_settings& settings, traffic& counted) {
  observer heard(settings, counted);
  gyre::http::server server(make_server_options(settings, heard, connections_));
  auto serving =
      gyre::spawn(server.run(), {.name = "server", .eager = true});  // it drains, even when it is stopped now
  const registration here(*this, serving);
  co_await serving.wait();
  serving.result();
}

void worker::stop() {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(stopped_, true) || loop_ == nullptr) return;
  // The lock keeps the loop alive during the post, and what is posted runs before the loop can end. The server may have ended
  // by then.
  loop_->post([this] {
    if (serving_ != nullptr && !serving_->done()) serving_->cancel();
  });
}

}  // namespace programs
