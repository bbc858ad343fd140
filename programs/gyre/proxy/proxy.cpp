// programs/gyre/proxy/proxy.cpp: `gyre proxy`: a forwarder on each loop behind a server for operators.
#include "programs/gyre/proxy/proxy.hpp"

#include "programs/gyre/proxy/forwarder.hpp"
#include "programs/gyre/requests/request_options.hpp"
#include "programs/gyre/serve/front_server.hpp"

#include <gyre/http/handler.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/loop/loop_local.hpp>
#include <gyre/tasks/spawn.hpp>

#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace programs {
namespace {

const char* name_of(balance how) noexcept {
  switch (how) {
    case balance::round_robin:
      return "one after the other";
    case balance::least_connections:
      return "the one with the fewest requests";
    case balance::two_choices:
      return "of two at random the one with fewer requests";
  }
  return "";
}

std::vector<std::pair<std::string, std::string>> describe(const proxy_settings& settings) {
  std::vector<std::pair<std::string, std::string>> all;
  all.reserve(settings.servers.size() + 8);
  for (const std::string& each : settings.servers)
    all.emplace_back("to", gyre::http::url(each).string());  // no password
  if (settings.servers.size() > 1) all.emplace_back("balance", name_of(settings.choice.how));
  if (!settings.health.empty()) all.emplace_back("health", settings.health);
  for (auto& each : describe_front(settings.server)) all.push_back(std::move(each));
  return all;
}

/// The forwarder of one loop, with its health checks. Responses that are still sent keep it.
class loop_forwarder {
 public:
  loop_forwarder(const proxy_settings& settings, std::span<const gyre::http::url> urls,
                 std::span<upstream_counts> counts, const std::optional<gyre::tls::client_config>& trusted)
      : forwarder_(settings, urls, counts, trusted) {
    if (settings.health.empty()) return;
    auto checking = gyre::spawn(forwarder_.check_health(), {.name = "health checks"});
    checking.detach();
  }
  GYRE_CORO_WRAPPER gyre::task<gyre::http::response> answer(gyre::http::request& request) {
    return forwarder_.answer(request);
  }

 private:
  forwarder forwarder_;
};

using forwarders = gyre::loop_local<loop_forwarder, std::function<loop_forwarder()>>;

struct passed_on_by {
  const forwarders& here;
  GYRE_CORO_WRAPPER gyre::task<gyre::http::response> operator()(gyre::http::request& request) const {
    return here->answer(request);
  }
};

}  // namespace

int proxy(const proxy_settings& given) {
  proxy_settings settings = given;
  std::optional<gyre::tls::client_config> trusted;
  try {
    trusted = trusted_by(settings.insecure, settings.authorities);
  } catch (const std::exception& error) {
    gyre::print_diagnostic({"error: ", error.what()});
    return 1;
  }
  std::vector<gyre::http::url> urls;
  urls.reserve(settings.servers.size());
  for (const std::string& each : settings.servers) urls.emplace_back(each);
  std::vector<upstream_counts> counts(urls.size());
  const forwarders here([&] { return loop_forwarder(settings, urls, counts, trusted); });
  const front_content content{.title = "gyre passes requests on",
                              .description = describe(settings),
                              .make_routes =
                                  [&here] {
                                    (void)here.get();  // the health checks begin
                                    return gyre::http::handler(passed_on_by{here});
                                  },
                              .more_metrics = [&] { return upstream_metrics(urls, counts); }};
  return run_front_server(settings.server, content);
}

}  // namespace programs
