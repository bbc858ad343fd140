// src/http/exchange/served_request.cpp: how a request begins, and what a route adds to it.
#include <gyre/http/status_error.hpp>
#include <gyre/http/target.hpp>

#include "served_request.hpp"

#include <gyre/tasks/join_op.hpp>

#include <optional>
#include <string>
#include <utility>

namespace gyre::http {
void served_request::join_upgrades() {
  for (const http::field& each : now_.fields) {
    if (!equal_ignoring_case(each.name, "Upgrade") || each.value.empty()) continue;
    lists_.upgrades.append(lists_.upgrades.empty() ? "" : ", ").append(each.value);
  }
  now_.upgrade = lists_.upgrades;
}

// Views of short strings are invalidated when their vector grows, so it must not grow.
void served_request::add_path_value(std::string_view name, std::string_view encoded) {
  if (encoded.find('%') == std::string_view::npos) {
    lists_.path_values.push_back({name, encoded});
    return;
  }
  constexpr std::size_t max_decoded = 64;
  if (lists_.decoded.capacity() < max_decoded) lists_.decoded.reserve(max_decoded);
  auto text = percent_decode(encoded);
  if (!text || lists_.decoded.size() == max_decoded)
    throw status_error(400, "the path has an invalid percent-encoding");
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
