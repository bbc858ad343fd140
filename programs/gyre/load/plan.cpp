// programs/gyre/load/plan.cpp: composes the request.
#include "programs/gyre/load/plan.hpp"

#include "programs/common/server_options.hpp"
#include "programs/gyre/requests/request_options.hpp"

#include <gyre/http/base64.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace programs {
namespace {

std::string compose(const load_settings& settings, const gyre::http::url& url, const std::string& method) {
  const std::string body = settings.data ? read_data("--data", *settings.data) : std::string();
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", method, url.target());
  if (!has_header(settings.headers, "host")) text += fmt::format("Host: {}\r\n", url.authority());
  if (!has_header(settings.headers, "authorization") && !(url.user().empty() && url.password().empty()))
    text += fmt::format("Authorization: Basic {}\r\n",
                        gyre::http::encode_base64(fmt::format("{}:{}", url.user(), url.password())));
  if (!has_header(settings.headers, "user-agent")) text += "User-Agent: gyre-load\r\n";
  if (!has_header(settings.headers, "accept")) text += "Accept: */*\r\n";
  for (const std::string& each : settings.headers) {
    const auto [name, value] = split_header(each);
    text += fmt::format("{}: {}\r\n", name, value);
  }
  if (settings.no_keep_alive) text += "Connection: close\r\n";
  if (settings.data || method == "POST" || method == "PUT" || method == "PATCH")
    text += fmt::format("Content-Length: {}\r\n", body.size());
  return text + "\r\n" + body;
}

}  // namespace

load_plan::load_plan(const load_settings& settings)
    : url(settings.url),
      method(!settings.method.empty() ? settings.method
             : settings.data          ? "POST"
                                      : "GET"),
      request(compose(settings, url, method)),
      connections(settings.connections),
      loops(std::min<std::size_t>(loops_for(settings.threads), settings.connections)),
      requests(settings.requests),
      rate(settings.rate),
      duration(settings.duration),
      limit(settings.timeout),
      keep_alive(!settings.no_keep_alive) {
  if (url.scheme() != "https") return;
  encryption = trusted_by(settings.insecure, settings.authorities);
  if (!encryption) encryption.emplace(gyre::tls::client_options{.protocols = {"http/1.1"}});
}

}  // namespace programs
