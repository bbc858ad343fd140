// programs/gyre/load/settings.cpp: the flags of `gyre load`.
#include "programs/gyre/load/settings.hpp"

#include "programs/common/command_line.hpp"
#include "programs/common/option_checks.hpp"
#include "programs/common/server_options.hpp"
#include "programs/gyre/requests/request_options.hpp"

namespace programs {

// More would need more ports than one address has.
constexpr std::size_t max_connections = 65'535;

void add_load_options(command& app, load_settings& settings) {
  app.add_option("URL", settings.url, "http:// or https://").required().check(check_url);
  app.add_option("-c,--connections", settings.connections, "connections at the same time")
      .check(check_count)
      .in_range(1, max_connections)
      .show_default();
  app.add_option("-t,--threads", settings.threads, "event loops, each on its own thread; 0: one per usable core")
      .in_range(0, 1024)
      .show_default();
  add_seconds(app, "-d,--duration", settings.duration, "how long");
  app.add_option("-n,--requests", settings.requests, "stop after this many requests, or after --duration")
      .check(check_count);
  app.add_option("-r,--rate", settings.rate,
                 "requests per second in all, evenly spaced; a latency then begins when its request was due, also when "
                 "all connections were busy (default: each connection sends its next request after the response)")
      .check(check_duration("requests per second", 0.01, 1e8));
  app.add_option("-X,--method", settings.method, "the method (default: GET, or POST with --data)").check(check_method);
  app.add_option("-H,--header", settings.headers, "\"Name: value\" added to every request; several: repeated")
      .one_value_each()
      .check(check_request_header);
  app.add_option("--data", settings.data, "the body of every request, or @FILE");
  add_seconds(app, "--timeout", settings.timeout, "the time that a connection or a response may take");
  app.add_flag("-k,--insecure", settings.insecure, "accept any certificate");
  app.add_option("--cacert", settings.authorities, "a file with the certificates to trust, in place of the system's")
      .existing_file();
  app.add_flag("--no-keep-alive", settings.no_keep_alive, "a new connection for each request");
  app.add_flag("--json", settings.json, "print the results as JSON");
  add_backend_option(app, settings.backend);
}

}  // namespace programs
