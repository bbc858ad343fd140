// programs/gyre/serve/front_server.hpp: runs an HTTP server with everything that an operator expects of a program:
// encryption and its renewal, an admin address, a log, counters, a redirect from HTTP, and lines that describe it.
#pragma once

#include "programs/gyre/serve/settings.hpp"

#include <gyre/http/handler.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace programs {

/// The content of a program.
struct front_content {
  std::string title;                                             // the first line that it prints
  std::vector<std::pair<std::string, std::string>> description;  // further lines: name and value
  std::function<gyre::http::handler()> make_routes;              // called on each loop
  std::function<std::string()> more_metrics = {};                // for /metrics, in the format of Prometheus
};

/// Runs it until the program is asked to stop. Returns the exit code. Sets settings.threads to the number of loops.
/// Lifetime: both arguments stay until then.
[[nodiscard]] int run_front_server(serve_settings& settings, const front_content& content);

}  // namespace programs
