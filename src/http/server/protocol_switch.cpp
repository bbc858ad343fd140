// src/http/server/protocol_switch.cpp: the switch from HTTP to another protocol.
#include <gyre/coro/cancelled.hpp>
#include <gyre/io/io_error.hpp>

#include "handler_failure.hpp"
#include "protocol_switch.hpp"
#include "response_state.hpp"
#include "upgraded_stream.hpp"

#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

// Called while the exception is being handled. A peer that has left is not an error here.
void report_end_of_protocol(const request& asked) noexcept {
  try {
    throw;
  } catch (const connection_lost&) {
    return;
  } catch (const io_error& error) {  // of a relay's other side
    if (error.code() == std::errc::connection_reset || error.code() == std::errc::broken_pipe) return;
  } catch (...) {  // reported as it is
  }
  report_failure(asked, "protocol after request");
}

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

task<bool> run_protocol(protocol_handler& protocol, message_input& input, const request& asked) {
  any_stream stream{upgraded_stream(input)};
  try {
    co_await protocol.run(std::move(stream));
    co_return true;
  } catch (const cancelled&) {
    throw;
  } catch (...) {  // not a cancel
    report_end_of_protocol(asked);
  }
  co_return false;
}

}  // namespace gyre::http
