// src/http/http1_connection/connection_link.cpp: how a connection of HTTP/1 carries an exchange.
#include <gyre/http/head_writer.hpp>

#include "connection.hpp"
#include "upgraded_protocol.hpp"

#include <exception>
#include <string>
#include <utility>

namespace gyre::http {

// A task of a handler may read the body and ask for it with 100, while another sends a hint.
task<bool> connection::send_interim(int status, std::span<const field> fields) {
  workspace& work = *work_;
  std::string head;
  head_writer writer(head);
  writer.status_line(status);
  writer.fields(fields);
  writer.end();
  const auto turn = co_await work.interim.scoped_lock();
  if (work.input.before_response == nullptr) co_return false;  // the response has begun
  if (work.request.version() == version::http_1_0 || work.output.failed()) co_return false;
  work.output.buffer().append(head);
  const std::error_code sent = co_await work.output.flush();
  co_return !sent;
}

// It is too late for 100, and for hints.
bool connection::end_interim() noexcept {
  work_->input.before_response = nullptr;
  return work_->interim.is_locked();
}

task<> connection::interim_ended() { const auto turn = co_await work_->interim.scoped_lock(); }

task<connection::takeover> connection::prepare_takeover(io::monotonic_time limit) {
  workspace& work = *work_;
  exchange_ends_ = limit;
  if (!work.body.at_end() && !work.input.broken) {
    const next_step step = co_await skip_body(work);
    if (step == next_step::reset) co_return takeover::gone;
  }
  co_return work.input.broken ? takeover::obstructed : takeover::ready;
}

connection::begun connection::begin(response_state& answer, const response_plan& plan, const circumstances& how) {
  workspace& work = *work_;
  const bool ends = last_request() || answer.close_connection;
  // The client gets its answer before it has sent the rest of the body, and is told if the server will not wait for it.
  if (!ends && !how.reads_on && !work.body.at_end() && !work.input.broken) {
    std::uint64_t max_more = max_skipped;
    work.input.broken = !how.in_time || !work.body.skip_arrived(max_more);
  }
  last_ = ends || work.input.broken;
  response_sender sender(work.output, answer, plan, how_to_send(work, last_ || !work.framing.keep_alive));
  work.sink.reset();
  const begun result = sender.begin();
  closes_ = sender.closes();
  in_response_ = how.takes_over || result != begun::all;
  if (result == begun::head) {
    const bool is_held = answer.source == body_origin::producer;
    work.sink.emplace(work.output, is_held ? std::string_view(answer.value) : std::string_view(), sender.is_chunked());
  }
  return result;
}

GYRE_CORO_WRAPPER task<std::error_code> connection::send_bytes(std::string_view whole_body) {
  return work_->output.write(whole_body);
}

GYRE_CORO_WRAPPER task<std::error_code> connection::send_file(int file, std::uint64_t offset, std::uint64_t count) {
  return work_->output.send_file(file, offset, count);
}

GYRE_CORO_WRAPPER task<std::error_code> connection::flush() { return work_->output.flush(); }

task<> connection::produce(body_producer& from, body_writer& writer) {
  message_output& output = work_->output;
  // A producer that fails ends the connection. Complete answers to earlier requests must have left by then.
  if (output.has_unsent()) {
    const std::error_code sent = co_await output.flush();
    if (sent) co_return;
  }
  message_output::background_sending background(co_await this_task_context{}, output);
  std::exception_ptr failure;
  try {
    co_await from.produce(writer);
  } catch (...) {  // thrown again; nothing follows a response that was cut off
    failure = std::current_exception();
    background.scope().cancel();
  }
  if (background.running() > 0) co_await background.all_ended();
  background.close();
  if (failure) std::rethrow_exception(failure);
}

task<bool> connection::take_over(protocol_handler& protocol) {
  const std::error_code sent = co_await work_->output.flush();
  if (sent) co_return false;
  const bool ended_well = co_await run_protocol(protocol, work_->input, work_->request);
  co_return ended_well;
}

}  // namespace gyre::http
