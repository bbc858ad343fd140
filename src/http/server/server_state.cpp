// src/http/server/server_state.cpp: what a server has on each loop: its listener and routes.
#include "server_state.hpp"

#include <gyre/http/shared_connection_count.hpp>

#include "server_options_check.hpp"
#include "spoken_connection.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::string_view unix_prefix = "unix:";

any_listener listen(const server_options& options) {
  const std::string_view where = options.listen;
  if (where.empty()) return {};
  if (where.starts_with(unix_prefix)) return unix_listener::bind(unix_address(where.substr(unix_prefix.size())));
  return tcp_listener::bind(where, options.socket);
}

std::string name_of(const any_listener& listener, const server_options& options) {
  if (const auto* const tcp = std::get_if<tcp_listener>(&listener)) return tcp->local_address().string();
  return options.listen;
}

server_options&& with_known_protocols(server_options&& options) {
  if (options.encryption) options.encryption->expect_protocols(protocol_names);
  return std::move(options);
}

// The handler of another loop, used by this one too.
struct shared_routes : prompt_handler<shared_routes> {
  handler* routes = nullptr;
  [[nodiscard]] started_response start(request& r) const { return routes->start(r); }
};

handler routes_for_other_loop(server_options& first) {
  if (first.make_routes) return first.make_routes();
  shared_routes shared;
  shared.routes = &first.routes;
  return {shared, first.routes.made_at()};
}

server_options options_for_other_loop(server_state& first) {
  const server_options& from = first.app.options;
  return {.listen = "",
          .routes = routes_for_other_loop(first.app.options),
          .limits = from.limits,
          .timeouts = from.timeouts,
          .socket = from.socket,
          .name = from.name,
          .observer = from.observer,
          .encryption = from.encryption,
          .failed_handshakes = from.failed_handshakes,
          .counted_with = &first.count,
          .observe_stop = from.observe_stop};
}

}  // namespace

server_state::server_state(server_state& first) : server_state(options_for_other_loop(first)) { where = first.where; }

server_state::server_state(server_options&& chosen)
    : app{.options = with_known_protocols(checked(std::move(chosen)))},
      listener(listen(app.options)),
      where(name_of(listener, app.options)),
      count(app.options.counted_with != nullptr ? *app.options.counted_with : own_count_) {}

}  // namespace gyre::http
