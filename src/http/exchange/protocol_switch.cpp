// src/http/exchange/protocol_switch.cpp: whether another protocol may follow an answer.
#include "protocol_switch.hpp"
#include "response_state.hpp"

#include <string_view>

namespace gyre::http {
namespace {

// A request for "name" or "name/version" matches "name". Case is ignored.
bool is_one(std::string_view protocol, std::string_view asked) noexcept {
  return equal_ignoring_case(asked, protocol) || equal_ignoring_case(asked.substr(0, asked.find('/')), protocol);
}

bool asks_for(const request& asking, std::string_view protocol) noexcept {
  if (asking.upgrade().empty()) return false;  // the field is not meant for this connection or this version
  for (const field& each : asking.fields()) {
    if (!equal_ignoring_case(each.name, "upgrade")) continue;
    std::string_view rest = each.value;
    for (std::string_view one = next_in_list(rest); !one.empty(); one = next_in_list(rest))
      if (is_one(protocol, one)) return true;
  }
  return false;
}

}  // namespace

bool begins_protocol(response& answer, const request& asked) {
  response_state& state = answer.state();
  const bool connect = asked.method() == "CONNECT";
  if (state.source != body_origin::protocol) {
    if (!connect || state.status / 100 != 2) return false;
    answer = response::error(501);
    answer.close_connection();
    return false;
  }
  if (connect && state.status == 101) state.status = 200;
  if (!connect && state.status == 101 && !asks_for(asked, answer.field("Upgrade").value_or(""))) state.status = 426;
  if (connect ? state.status / 100 == 2 : state.status == 101) return true;
  state.drop_body();
  return false;
}

}  // namespace gyre::http
