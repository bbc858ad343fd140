// programs/gyre/serve/worker.cpp: the life of a server thread.
#include "programs/gyre/serve/worker.hpp"

#include "programs/common/server_options.hpp"
#include "programs/gyre/serve/observer.hpp"
#include "programs/gyre/serve/site.hpp"

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

gyre::task<> worker::serve(const serve_settings& settings, traffic& counted) {
  observer heard(settings, counted);
  gyre::http::server server(make_server_options(settings, heard, connections_));
  co_await server.run();
}

}  // namespace programs
