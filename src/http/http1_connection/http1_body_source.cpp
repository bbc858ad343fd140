// src/http/http1_connection/http1_body_source.cpp: takes the body out of the input, and waits for more input.
#include <gyre/coro/misuse.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/net/bulk.hpp>

#include "http1_body_source.hpp"

#include <utility>

namespace gyre::http {

std::string_view http1_body_source::take(std::size_t max) {
  const std::string_view available = input_.available();
  if (available.empty()) return {};
  continue_wanted_ = false;  // the client has not waited for it
  std::string_view rest = available;
  const std::string_view piece = body_.take(rest, max);
  input_.consume(available.size() - rest.size());
  if (const parse_error error = body_.error(); error != parse_error::none) {
    input_.broken = true;
    throw status_error(status_for(error), std::string(describe(error)));
  }
  return piece;
}

task<> http1_body_source::wait() {
  if (!input_.available().empty()) co_return;  // the rest of its framing
  if (continue_wanted_) co_await ask_for_it();
  const std::error_code outcome = co_await input_.receive();
  if (outcome == make_error_code(stream_errc::end_of_stream) && body_.end_of_stream()) co_return;
  check(outcome);
}

void http1_body_source::check(std::error_code outcome) {
  if (!outcome) return;
  input_.broken = true;
  if (outcome == time_limit_passed()) throw status_error(408, "the request body arrived too slowly");
  throw incomplete_transfer(outcome, "receive", "the body", static_cast<std::size_t>(body_.received()));
}

task<> http1_body_source::ask_for_it() {
  if (!std::exchange(continue_wanted_, false)) co_return;
  if (input_.available().empty() && input_.before_response != nullptr)
    (void)co_await input_.before_response->send_interim(100, {});
}

socket_state* http1_body_source::bulk_socket() const noexcept {
  if (!body_.is_plain() || !body_.length() || !input_.available().empty()) return nullptr;
  return input_.transport().bulk_socket();
}

task<std::size_t> http1_body_source::receive_bulk(socket_bulk& bulk) {
  input_.transport().bulk_socket()->pause_watch();
  const std::error_code outcome = co_await input_.receive_bulk(bulk, body_.left());
  check(outcome);
  body_.bypass(bulk.size());
  if (at_end()) end_bulk();
  co_return bulk.size();
}

void http1_body_source::end_bulk() noexcept {
  if (socket_state* const socket = input_.transport().bulk_socket()) socket->resume_watch();
}

bool http1_body_source::skip_arrived(std::uint64_t& max) {
  if (at_end()) return true;
  if (input_.receives()) misuse("a task still reads the body of a request that was answered: end it before the answer");
  if (continue_wanted_ || (length() && body_.left() > max)) return false;
  try {
    while (!at_end() && !input_.available().empty()) {
      const std::uint64_t before = input_.available().size();
      (void)take(std::string_view::npos);
      const std::uint64_t used = before - input_.available().size();
      if (used > max) return false;
      max -= used;
    }
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

}  // namespace gyre::http
