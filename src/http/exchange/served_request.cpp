// src/http/exchange/served_request.cpp: how a request begins, and what a route adds to it.
#include <gyre/http/status_error.hpp>
#include <gyre/http/target.hpp>

#include "served_request.hpp"

#include <gyre/tasks/join_op.hpp>
#include "server/server_state.hpp"

#include <new>
#include <optional>
#include <string>
#include <utility>

namespace gyre::http {
namespace {

void join_upgrades(std::span<const field> fields, std::string& out) {
  for (const field& each : fields) {
    if (!equal_ignoring_case(each.name, "Upgrade") || each.value.empty()) continue;
    out.append(out.empty() ? "" : ", ").append(each.value);
  }
}

}  // namespace

void served_request::begin(server_state& server, const address& peer, const head_parser& head, const framing& framed,
                           body_source& body, exchange_link& link) {
  owner_.check("serving");  // from here on it belongs to this loop
  server_ = &server;
  // In place: assigning a temporary would copy all of it once more.
  ::new (&now_) contents{.method = head.method(),
                         .target = head.target(),
                         .parts = split_target(head.target()),
                         .host = framed.host,
                         .upgrade = framed.upgrade,
                         .fields = head.fields(),
                         .version = head.minor_version() == 0 ? version::http_1_0 : version::http_1_1,
                         .peer = &peer,
                         .link = &link,
                         .handled_at = server.options.routes.made_at()};
  if (!now_.parts.authority.empty()) now_.host = now_.parts.authority;
  lists_.path_values.clear();
  lists_.decoded.clear();
  lists_.query_fields.clear();
  lists_.attributes.clear();
  lists_.upgrades.clear();
  body_.start(body, server.options.limits.body);
  if (!framed.several_upgrades) return;
  join_upgrades(now_.fields, lists_.upgrades);
  now_.upgrade = lists_.upgrades;
}

// Views of short strings are invalidated when their vector grows, so it must not grow.
void served_request::add_path_value(std::string_view name, std::string_view encoded) {
  if (encoded.find('%') == std::string_view::npos) {
    lists_.path_values.push_back({name, encoded});
    return;
  }
  constexpr std::size_t most = 64;
  if (lists_.decoded.capacity() < most) lists_.decoded.reserve(most);
  auto text = percent_decode(encoded);
  if (!text || lists_.decoded.size() == most) throw status_error(400, "the path has an invalid percent-encoding");
  lists_.path_values.push_back({name, lists_.decoded.emplace_back(*std::move(text))});
}

uninterrupted_join_op served_request::end_adopted() noexcept {
  for (task_state* const each : adopted_)
    if (!each->done()) each->root.cancel();
  return uninterrupted_join_op(*adopted_.back());
}

void served_request::give_up_adopted() noexcept {
  adopted_.back()->release();
  adopted_.pop_back();
}

}  // namespace gyre::http
