// programs/gyre/load/plan.cpp: composes the request.
#include "programs/gyre/load/plan.hpp"

#include "programs/common/server_options.hpp"
#include "programs/gyre/requests/request_checks.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

namespace programs {
namespace {

std::chrono::nanoseconds nanoseconds_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

bool has_header(const load_settings& settings, const std::string& name) {
  return std::ranges::any_of(settings.headers, [&](const std::string& each) {
    return CLI::detail::to_lower(each.substr(0, each.find(':'))) == name;
  });
}

std::string compose(const load_settings& settings, const gyre::http::url& url, const std::string& method) {
  const std::string body = read_data(settings.data);
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", method, url.target());
  if (!has_header(settings, "host")) text += fmt::format("Host: {}\r\n", url.authority());
  if (!has_header(settings, "user-agent")) text += "User-Agent: gyre-load\r\n";
  if (!has_header(settings, "accept")) text += "Accept: */*\r\n";
  for (const std::string& each : settings.headers) {
    const auto colon = each.find(':');
    text += fmt::format("{}: {}\r\n", each.substr(0, colon), CLI::detail::trim_copy(each.substr(colon + 1)));
  }
  if (settings.no_keep_alive) text += "Connection: close\r\n";
  if (!body.empty() || method == "POST" || method == "PUT" || method == "PATCH")
    text += fmt::format("Content-Length: {}\r\n", body.size());
  return text + "\r\n" + body;
}

}  // namespace

load_plan::load_plan(const load_settings& settings)
    : url(settings.url),
      method(!settings.method.empty() ? settings.method
             : settings.data.empty()  ? "GET"
                                      : "POST"),
      request(compose(settings, url, method)),
      connections(settings.connections),
      loops(std::min<std::size_t>(loops_for(settings.threads), settings.connections)),
      requests(settings.requests),
      rate(settings.rate),
      duration(nanoseconds_of(settings.seconds)),
      limit(nanoseconds_of(settings.timeout_seconds)),
      keep_alive(!settings.no_keep_alive) {
  if (url.scheme() == "https")
    encryption.emplace(gyre::tls::client_options{.protocols = {"http/1.1"}, .insecure_skip_verify = settings.insecure});
}

}  // namespace programs
