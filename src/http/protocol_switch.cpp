// src/http/protocol_switch.cpp: from HTTP to something else.
#include <gyre/coro/cancelled.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/event_loop.hpp>

#include "protocol_switch.hpp"
#include "response_state.hpp"
#include "upgraded_stream.hpp"

#include <exception>
#include <source_location>
#include <utility>

namespace gyre::http {
namespace {

// Called while the exception is handled. That the peer has left is nobody's fault here.
void report_failure() noexcept {
  try {
    throw;
  } catch (const io_error& error) {
    if (error.code() == std::errc::connection_reset || error.code() == std::errc::broken_pipe) return;
  } catch (...) {  // is reported as it is
  }
  event_loop::report({std::current_exception(), "another protocol than HTTP", std::source_location::current()});
}

}  // namespace

bool begins_protocol(response_state& answer, bool connect, bool wanted) noexcept {
  if (answer.source != body_source::protocol) return false;
  if (connect && answer.status == 101) answer.status = 200;
  if (!connect && answer.status == 101 && !wanted) answer.status = 426;
  if (connect ? answer.status / 100 == 2 : answer.status == 101) return true;
  answer.drop_body();
  return false;
}

task<bool> speak(protocol_handler& protocol, message_input& input) {
  any_stream stream{upgraded_stream(input)};
  try {
    co_await protocol.speak(std::move(stream));
    co_return true;
  } catch (const cancelled&) {
    throw;
  } catch (...) {  // what is left is no cancel
    report_failure();
  }
  co_return false;
}

}  // namespace gyre::http
