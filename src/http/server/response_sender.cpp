// src/http/server/response_sender.cpp: how each kind of body is framed and sent. RFC 9112 §6.
#include <gyre/http/field.hpp>

#include "exchange/response_plan.hpp"
#include "http1_body_sink.hpp"
#include "response_sender.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace gyre::http {
namespace {

// The fields of a response that replace those of the server, or have a meaning for the connection.
struct own_lines {
  bool date = false;
  bool server = false;
  bool keep_alive = false;
  bool upgrade = false;
  [[nodiscard]] bool any() const noexcept { return date || server || keep_alive || upgrade; }
};

own_lines own_lines_of(const response_state& r) noexcept {
  own_lines own;
  for (const field& each : r.all_fields()) {
    own.date = own.date || equal_ignoring_case(each.name, "Date");
    own.server = own.server || equal_ignoring_case(each.name, "Server");
    own.keep_alive = own.keep_alive || equal_ignoring_case(each.name, "Keep-Alive");
    own.upgrade = own.upgrade || equal_ignoring_case(each.name, "Upgrade");
  }
  return own;
}

void choose_lines(response_head& head, const sending& how, const own_lines& own, bool takes_over) noexcept {
  const std::string_view date = own.date ? std::string_view() : how.lines.date;
  const std::string_view server = own.server ? std::string_view() : how.lines.server;
  head.common_fields = date.empty() ? server : std::string_view(date.data(), date.size() + server.size());
  if (takes_over) return;
  if (!how.close && !own.keep_alive) head.keep_alive = how.lines.keep_alive;
  if (how.close)
    head.connection = connection_field::close;
  else if (how.http_1_0 || own.keep_alive || !head.keep_alive.empty())
    head.connection = connection_field::keep_alive;  // also names that field: RFC 9110 §7.6.1
}

}  // namespace

bool response_sender::begin() {
  const response_plan plan(response_, how_.head_only, how_.connect);
  response_head head{.status = response_.status,
                     .common_fields = {},
                     .media_type = response_.media_type,
                     .fields = response_.fields,
                     .length = plan.length,
                     .body = {}};
  head.chunked = chunked_ = plan.is_open && !how_.http_1_0;
  if (plan.is_open && how_.http_1_0) how_.close = true;  // RFC 9112 §6.3: the body ends with the connection
  has_body_ = plan.has_body;
  const std::string_view bytes = is_in_memory() ? response_.bytes() : std::string_view();
  const bool takes_over = response_.source == body_origin::protocol;
  const own_lines own = response_.fields.empty() ? own_lines() : own_lines_of(response_);
  const bool is_usual = !own.any() && !takes_over && !how_.close && !how_.http_1_0;
  if (is_usual)
    head.common_fields = how_.lines.all;
  else
    choose_lines(head, how_, own, takes_over);
  head.upgrade = own.upgrade;  // requires Connection: upgrade, RFC 9110 §7.8
  if (has_body_ && is_in_memory() && bytes.size() <= message_output::max_gathered) {
    head.body = bytes;
    body_bytes_ = bytes.size();
    has_all_ = true;
  }
  holds_head_ = has_body_ && response_.source == body_origin::producer;
  if (holds_head_) response_.value.clear();
  append_head(holds_head_ ? response_.value : output_.buffer(), head);
  return (!has_body_ || has_all_) && output_.settle(upcoming::more_output);
}

// Counts the bytes taken of a body after its head, however the sending ends.
class response_sender::body_counter {
 public:
  explicit body_counter(response_sender& sender) noexcept : sender_(sender), head_(taken()) {}
  body_counter(const body_counter&) = delete;
  body_counter& operator=(const body_counter&) = delete;
  ~body_counter() { sender_.body_bytes_ = taken() - std::min(head_, taken()); }

 private:
  [[nodiscard]] std::uint64_t taken() const noexcept {
    return sender_.output_.sent() + sender_.output_.buffer().size();
  }
  response_sender& sender_;
  std::uint64_t head_;
};

task<bool> response_sender::send() {
  if (has_all_ || !has_body_) {
    (void)co_await output_.flush();
  } else if (response_.source == body_origin::producer) {
    co_return co_await produce();
  } else {
    const body_counter count(*this);
    if (response_.source == body_origin::file) {
      (void)co_await output_.send_file(response_.file_descriptor(), response_.file_offset,
                                       response_.length.value_or(0));
    } else {
      (void)co_await output_.write(response_.bytes());
    }
  }
  co_return !output_.failed();
}

// Counts the bytes of a body made piece by piece. A complete body counts in full. For one that was cut off, at most the
// bytes taken count, not those still waiting.
class response_sender::writer_counter {
 public:
  writer_counter(response_sender& sender, const body_writer& writer, const http1_body_sink& sink) noexcept
      : sender_(sender), writer_(writer), sink_(sink) {}
  writer_counter(const writer_counter&) = delete;
  writer_counter& operator=(const writer_counter&) = delete;
  ~writer_counter() {
    sender_.body_bytes_ = complete ? writer_.written() : std::min(writer_.written(), sink_.taken());
    sender_.holds_head_ = sink_.holds_head();
  }
  bool complete = false;

 private:
  response_sender& sender_;
  const body_writer& writer_;
  const http1_body_sink& sink_;
};

task<bool> response_sender::produce() {
  http1_body_sink sink(output_, response_.value, chunked_);
  body_writer writer(sink, response_.length.value_or(body_writer::any_length));
  writer_counter count(*this, writer, sink);
  // A producer that fails ends the connection. Complete answers to earlier requests must have left by then.
  if (output_.has_unsent()) {
    const std::error_code sent = co_await output_.flush();
    if (sent) co_return false;
  }
  message_output::background_sending background(co_await this_task_context{}, output_);
  std::exception_ptr failure;
  try {
    co_await response_.producer->produce(writer);
  } catch (...) {  // thrown again; nothing follows a response that was cut off
    failure = std::current_exception();
    background.scope().cancel();
  }
  if (background.running() > 0) co_await background.all_ended();
  background.close();
  if (failure) std::rethrow_exception(failure);
  if (output_.failed() || writer.is_cut_off()) co_return false;
  if (response_.length && writer.written() != *response_.length)
    throw std::logic_error("the body of the response is shorter than was announced");
  sink.finish();
  co_return count.complete = true;
}

}  // namespace gyre::http
