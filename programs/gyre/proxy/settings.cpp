// programs/gyre/proxy/settings.cpp: the flags of `gyre proxy`.
#include "programs/gyre/proxy/settings.hpp"

#include "programs/common/option_checks.hpp"
#include "programs/common/server_options.hpp"
#include "programs/gyre/requests/request_options.hpp"

#include <CLI/CLI.hpp>

#include <map>

namespace programs {
void add_proxy_options(CLI::App& app, proxy_settings& settings) {
  app.add_option("--to", settings.servers,
                 "http:// or https:// URL of a server, perhaps with a path; several: repeated")
      ->required()
      ->allow_extra_args(false)
      ->check(check_url);
  static const std::map<std::string, balance> policies{{"round-robin", balance::round_robin},
                                                       {"least", balance::least_connections},
                                                       {"two-choices", balance::two_choices}};
  const auto choose = [&settings](const std::string& name) { settings.choice.how = policies.at(name); };
  app.add_option_function<std::string>("--balance", choose,
                                       "which server gets a request: round-robin, least (running requests), or "
                                       "two-choices (of two at random the one with fewer)")
      ->check(CLI::IsMember({"round-robin", "least", "two-choices"}))
      ->default_str("round-robin");
  app.add_option("--retries", settings.retries, "how many other servers are tried when that is safe")
      ->check(CLI::Range(0U, 100U))
      ->capture_default_str();
  app.add_option("--max-fails", settings.choice.most_failures, "failures in a row after which a server is left out")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  add_seconds(app, "--fail-timeout", settings.choice.pause, "for how long");
  app.add_option("--health", settings.health, "a path that every healthy server answers with 2xx (default: no checks)")
      ->check([](const std::string& text) {
        return text.starts_with('/') ? std::string() : std::string("expected a path that begins with /");
      });
  add_seconds(app, "--health-interval", settings.health_interval, "the time between two checks");
  add_seconds(app, "--connect-timeout", settings.connect_timeout, "for connecting to a server");
  add_seconds(app, "--timeout", settings.timeout,
              "for the beginning of a response, and for each further piece of a body");
  app.add_option("--connections", settings.connections, "connections to each server, on each loop")
      ->check(check_count)
      ->capture_default_str();
  app.add_option("--max-body", settings.body_limit, "bytes of a request's body, also as 64kb; more is answered 413")
      ->transform(CLI::Validator(read_size, "SIZE"))
      ->default_str("no limit");
  app.add_flag("--trust-forwarded", settings.trust_forwarded,
               "clients are proxies: pass on what they say about their clients (X-Forwarded-For, Forwarded, ...)");
  app.add_flag("!--server-host", settings.keep_host,
               "send the host of the server's URL (default: the host that the client has asked for)");
  app.add_flag("-k,--insecure", settings.insecure, "accept any certificate of the servers");
  app.add_option("--cacert", settings.authorities, "a file with the certificates to trust for the servers")
      ->check(CLI::ExistingFile);
  add_front_options(app, settings.server);
}

}  // namespace programs
