// programs/encryption/redirect.cpp: leads clients from HTTP to HTTPS.
#include "programs/encryption/redirect.hpp"

#include <gyre/http/response.hpp>

#include <utility>

namespace programs {
namespace {

namespace http = gyre::http;

std::string_view without_port(std::string_view host) {
  const auto colon = host.rfind(':');
  const bool is_port = colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  return is_port ? host.substr(0, colon) : host;
}

http::handler redirect_to_https(std::string_view where) {
  const std::string port(where.substr(where.rfind(':') + 1));
  return [own = std::string(without_port(where)), port](http::request& request) {
    if (request.target() == "*") return http::response::no_content();  // no page: RFC 9110 §9.3.7
    const std::string_view asked = without_port(request.host());
    std::string target = "https://";
    target += asked.empty() ? std::string_view(own) : asked;
    if (port != "443") (target += ':') += port;
    target += request.path().empty() ? "/" : request.path();
    if (!request.query().empty()) (target += '?') += request.query();
    return http::response::redirect(target, 308);
  };
}

}  // namespace

http::server_options redirect_options(std::string listen, std::string_view where) {
  http::server_options options;
  options.listen = std::move(listen);
  options.observe_stop = false;
  options.routes = redirect_to_https(where);
  return options;
}

}  // namespace programs
