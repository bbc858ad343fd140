// src/testing/http_direct.cpp: an application whose requests need no connection.
#include <gyre/http/field.hpp>
#include <gyre/http/field_line.hpp>
#include <gyre/http/value_from_text.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/tasks/spawn.hpp>
#include <gyre/testing/http_direct.hpp>

#include "exchange/application.hpp"
#include "http_direct_state.hpp"
#include "semantics/characters.hpp"
#include "semantics/target_check.hpp"
#include "server/server_options_check.hpp"

#include <cstdint>
#include <memory>
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

// The value of a field that may stand once; null data() without one.
std::string_view only_value(const http_direct_request& request, std::string_view name) {
  std::string_view value;
  for (const auto& each : request.fields) {
    if (!http::equal_ignoring_case(each.first, name)) continue;
    if (value.data() != nullptr) refuse("the request has several fields " + std::string(name));
    value = each.second;
  }
  return value;
}

void check_length(const http_direct_request& request) {
  const std::string_view text = only_value(request, "Content-Length");
  if (text.data() == nullptr) return;
  const auto length = http::value_from_text<std::uint64_t>(text);
  if (!length) refuse("the Content-Length \"" + std::string(text) + "\" is not a number");
  if (request.streams ? request.body.size() > *length : request.body.size() != *length)
    refuse("the body has " + std::to_string(request.body.size()) + " bytes, and the Content-Length is " +
           std::to_string(*length));
}

void complete(http_direct_request& request) {
  if (!http::is_token(request.method)) refuse("the method \"" + request.method + "\" is not a token");
  if (request.target.empty()) refuse("the target is empty");
  for (const auto& [name, value] : request.fields) http::check_field(name, value);
  const bool needs_host = request.version != http::version::http_1_0;
  if (only_value(request, "Transfer-Encoding").data() != nullptr)
    refuse("Transfer-Encoding is a matter of HTTP/1.1: give the body as it is");
  if (needs_host && only_value(request, "Host").data() == nullptr)
    request.fields.emplace(request.fields.begin(), "Host", "test");
  const http::parse_error error =
      http::is_target(request.target)
          ? http::check_target(request.method, request.target, only_value(request, "Host"), needs_host)
          : http::parse_error::bad_target;
  if (error != http::parse_error::none)
    refuse("the target \"" + printable(request.target) + "\": " + std::string(http::describe(error)));
  check_length(request);
  if (!request.streams && !request.body.empty() && only_value(request, "Content-Length").data() == nullptr)
    request.fields.emplace_back("Content-Length", std::to_string(request.body.size()));
}

}  // namespace

struct http_direct_app {
  std::shared_ptr<http::application> shared;
};
struct http_direct_client {
  std::shared_ptr<http_direct_state> exchange;
};

http_direct_application::http_direct_application(http::handler routes)
    : http_direct_application(answered_by(std::move(routes))) {}
http_direct_application::http_direct_application(http::server_options options)
    : app_(new http_direct_app{std::make_shared<http::application>(http::checked(std::move(options)))}) {}
http_direct_application::http_direct_application(const http_direct_application& other)
    : app_(new http_direct_app(*other.app_)) {}
http_direct_application::~http_direct_application() { delete app_; }

http_direct_exchange http_direct_application::begin(http_direct_request request) {
  complete(request);
  auto state = std::make_shared<http_direct_state>(app_->shared, std::move(request));
  http_direct_exchange made(new http_direct_client{state});
  spawn(http_direct_state::serve(std::move(state)), {.name = "application"}).detach();
  return made;
}

void http_direct_exchange::leave(http_direct_client* client) noexcept {
  client->exchange->reset();
  delete client;
}

GYRE_CORO_WRAPPER task<http_direct_part> http_direct_exchange::receive() { return client_->exchange->receive(); }
GYRE_CORO_WRAPPER task<> http_direct_exchange::send(std::string piece) {
  return client_->exchange->send(std::move(piece));
}
void http_direct_exchange::finish(std::vector<std::pair<std::string, std::string>> trailers) {
  client_->exchange->finish(std::move(trailers));
}
void http_direct_exchange::close_sending() noexcept { client_->exchange->close_sending(); }
void http_direct_exchange::reset() noexcept { client_->exchange->reset(); }

}  // namespace gyre::testing
