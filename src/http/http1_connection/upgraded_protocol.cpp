// src/http/http1_connection/upgraded_protocol.cpp: runs the protocol that follows HTTP on a connection.
#include <gyre/coro/cancelled.hpp>
#include <gyre/io/io_error.hpp>

#include "exchange/handler_failure.hpp"
#include "upgraded_protocol.hpp"
#include "upgraded_stream.hpp"

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

}  // namespace

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
