// src/http/server/server_state.cpp: what a server has on each loop: its listener, routes and common fields.
#include "server_state.hpp"

#include <gyre/http/field_line.hpp>
#include <gyre/http/shared_connection_count.hpp>
#include <gyre/io/wall_clock.hpp>

#include "server_options_check.hpp"

#include <algorithm>
#include <chrono>
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
  const server_options& from = first.options;
  return {.listen = "",
          .routes = routes_for_other_loop(first.options),
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
    : options(checked(std::move(chosen))),
      listener(listen(options)),
      where(name_of(listener, options)),
      count(options.counted_with != nullptr ? *options.counted_with : own_count_) {}

void server_state::renew_lines(io::monotonic_time now) {
  const timespec time = io::wall_clock();
  text_of_lines_.assign("Date: ").append(date_.text(time.tv_sec)).append("\r\n");
  const std::size_t date = text_of_lines_.size();
  if (!options.name.empty()) append_field_line(text_of_lines_, "Server", options.name);
  const std::size_t both = text_of_lines_.size();
  // So that no client sends a request at the moment at which the server closes an idle connection.
  const std::chrono::nanoseconds idle = options.timeouts.idle;
  constexpr std::string_view connection = "Connection: keep-alive\r\n";
  if (idle != idle.max())
    text_of_lines_.append(connection)
        .append("Keep-Alive: timeout=")
        .append(std::to_string(std::chrono::floor<std::chrono::seconds>(idle).count()))
        .append("\r\n");
  const std::string_view all = text_of_lines_;
  lines_ = {.date = all.substr(0, date),
            .server = all.substr(date, both - date),
            .keep_alive = all.substr(std::min(both + connection.size(), all.size())),
            .all = all};
  next_second_ = now + (1'000'000'000 - time.tv_nsec);  // last: without memory, the text has no end
}

}  // namespace gyre::http
