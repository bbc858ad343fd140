// programs/gyre/proxy/settings.cpp: the flags of `gyre proxy`.
#include "programs/gyre/proxy/settings.hpp"

#include "programs/common/command_line.hpp"
#include "programs/common/option_checks.hpp"
#include "programs/common/server_options.hpp"
#include "programs/gyre/requests/request_options.hpp"

namespace programs {

void add_proxy_options(command& app, proxy_settings& settings) {
  app.add_option("--to", settings.servers,
                 "http:// or https:// URL of a server, perhaps with a path; several: repeated")
      .required()
      .one_value_each()
      .check(check_url);
  app.add_choice("--balance", settings.choice.how,
                 {{"round-robin", balance::round_robin},
                  {"least", balance::least_connections},
                  {"two-choices", balance::two_choices}},
                 "which server gets a request: round-robin, least (running requests), or two-choices (of two at random "
                 "the one with fewer)");
  app.add_option("--retries", settings.retries, "how many other servers are tried when that is safe")
      .in_range(0, 100)
      .show_default();
  app.add_option("--max-fails", settings.choice.max_failures, "failures in a row after which a server is left out")
      .in_range(1, 1'000'000)
      .show_default();
  add_seconds(app, "--fail-timeout", settings.choice.pause, "for how long");
  app.add_option("--health", settings.health, "a path that every healthy server answers with 2xx (default: no checks)")
      .check([](const std::string& text) {
        return text.starts_with('/') ? std::string() : std::string("expected a path that begins with /");
      });
  add_seconds(app, "--health-interval", settings.health_interval, "the time between two checks");
  add_seconds(app, "--connect-timeout", settings.connect_timeout, "for connecting to a server");
  add_seconds(app, "--timeout", settings.timeout,
              "for the beginning of a response, and for each further piece of a body");
  app.add_option("--connections", settings.connections, "connections to each server, on each loop")
      .check(check_count)
      .show_default();
  app.add_option("--max-body", settings.body_limit, "bytes of a request's body, also as 64kb; more is answered 413")
      .convert(read_size, "SIZE")
      .show_default("no limit");
  app.add_flag("--trust-forwarded", settings.trust_forwarded,
               "clients are proxies: pass on what they say about their clients (X-Forwarded-For, Forwarded, ...)");
  app.add_flag("!--server-host", settings.keep_host,
               "send the host of the server's URL (default: the host that the client has asked for)");
  app.add_flag("-k,--insecure", settings.insecure, "accept any certificate of the servers");
  app.add_option("--cacert", settings.authorities, "a file with the certificates to trust for the servers")
      .existing_file();
  add_front_options(app, settings.server);
}

}  // namespace programs
