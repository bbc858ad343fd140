// src/testing/http_direct.cpp: an application whose requests need no connection.
#include <gyre/http/field_line.hpp>
#include <gyre/tasks/spawn.hpp>
#include <gyre/testing/http_direct.hpp>

#include "exchange/application.hpp"
#include "http_direct_state.hpp"
#include "server/server_options_check.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gyre::testing {
namespace {

http::server_options answered_by(http::handler routes) {
  http::server_options options;
  options.routes = std::move(routes);
  return options;
}

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument("http_direct_application: " + what); }

void complete(http_direct_request& request) {
  if (!http::is_token(request.method)) refuse("the method \"" + request.method + "\" is not a token");
  if (request.target.empty()) refuse("the target is empty");
  const auto has = [&](std::string_view name) {
    return std::any_of(request.fields.begin(), request.fields.end(),
                       [&](const auto& each) { return http::equal_ignoring_case(each.first, name); });
  };
  for (const auto& [name, value] : request.fields) http::check_field(name, value);
  if (has("Transfer-Encoding")) refuse("Transfer-Encoding is a matter of HTTP/1.1: give the body as it is");
  if (!has("Host") && request.version != http::version::http_1_0)
    request.fields.emplace(request.fields.begin(), "Host", "test");
  if (!request.streams && !request.body.empty() && !has("Content-Length"))
    request.fields.emplace_back("Content-Length", std::to_string(request.body.size()));
}

}  // namespace

http_direct_application::http_direct_application(http::handler routes)
    : http_direct_application(answered_by(std::move(routes))) {}
http_direct_application::http_direct_application(http::server_options options)
    : app_(std::make_shared<http::application>(http::checked(std::move(options)))) {}

http_direct_exchange http_direct_application::begin(http_direct_request request) {
  complete(request);
  auto state =
      std::make_shared<http_direct_state>(std::static_pointer_cast<http::application>(app_), std::move(request));
  spawn(http_direct_state::serve(state), {.name = "application"}).detach();
  return http_direct_exchange(std::move(state));
}

http_direct_exchange::http_direct_exchange(std::shared_ptr<http_direct_state> state) noexcept
    : state_(std::move(state)) {}
http_direct_exchange::~http_direct_exchange() {
  if (state_) state_->reset();
}

GYRE_CORO_WRAPPER task<http_direct_part> http_direct_exchange::receive() { return state_->receive(); }
GYRE_CORO_WRAPPER task<> http_direct_exchange::send(std::string piece) { return state_->send(std::move(piece)); }
void http_direct_exchange::finish(std::vector<std::pair<std::string, std::string>> trailers) {
  state_->finish(std::move(trailers));
}
void http_direct_exchange::close_sending() noexcept { state_->close_sending(); }
void http_direct_exchange::reset() noexcept { state_->reset(); }

}  // namespace gyre::testing
