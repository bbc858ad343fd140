// src/http/exchange/server_sent_events.cpp: formats events as lines.
#include <gyre/http/server_sent_events.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/tasks/task_group.hpp>

#include <array>
#include <charconv>
#include <stdexcept>

namespace gyre::http {
namespace {

constexpr std::string_view forbidden("\r\n\0", 3);

void check_single_line(std::string_view text, const char* what) {
  if (text.find_first_of(forbidden) != std::string_view::npos)
    throw std::invalid_argument(std::string("server_event: the ") + what + " holds a line end or NUL");
}

// Readers strip one space after the colon. Without it they would strip one of the text.
void append_line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\n");
}

void append_lines(std::string& out, std::string_view name, std::string_view text) {
  for (;;) {
    const std::size_t end = text.find_first_of("\r\n");
    append_line(out, name, text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
  }
}

}  // namespace

void append_event(std::string& out, const server_event& what) {
  check_single_line(what.event, "type");
  if (what.id) check_single_line(*what.id, "id");
  if (what.retry && what.retry->count() < 0)
    throw std::invalid_argument("server_event: a time before now to come back");
  if (!what.event.empty()) append_line(out, "event", what.event);
  if (what.id) append_line(out, "id", *what.id);
  if (what.retry) append_line(out, "retry", std::to_string(what.retry->count()));
  if (what.data) append_lines(out, "data", *what.data);
  out += '\n';
}

task<> event_writer::send_bytes(std::string_view bytes) {
  const mutex_guard turn = co_await turn_.scoped_lock();
  sent_ = true;
  co_await out_->write(bytes);
  co_await out_->flush();  // a slow client slows the sender down
}

task<> event_writer::send(server_event what) {
  std::string bytes;
  append_event(bytes, what);
  co_await send_bytes(bytes);
}

task<> event_writer::comment(std::string_view text) {
  std::string bytes;
  append_lines(bytes, "", text);
  bytes += '\n';
  co_await send_bytes(bytes);
}

response event_stream_body::make(interface* function, const event_stream_options& options) {
  event_stream_body body(function, options);  // owns the function from here on
  if (options.keep_alive <= std::chrono::nanoseconds::zero())
    throw std::invalid_argument("event_stream: keep_alive must be positive; nanoseconds::max() means never");
  response made = response::stream(std::move(body), "text/event-stream");
  made.add_field("Cache-Control", "no-store");
  made.add_field("X-Accel-Buffering", "no");  // for nginx, which would otherwise hold events back
  return made;
}

task<> event_stream_body::keep_alive(event_writer& events) const {
  for (;;) {
    events.sent_ = false;
    co_await sleep(options.keep_alive);
    if (!events.sent_ && !events.turn_.is_locked()) co_await events.comment();
  }
}

task<> event_stream_body::operator()(body_writer& out) {
  event_writer events(out);
  co_await out.flush();  // sends the head, so that the page knows that it is connected
  if (options.keep_alive == std::chrono::nanoseconds::max()) {
    co_await function->run(events);
    co_return;
  }
  auto run_both = [&](task_group& group) -> task<> {
    group.spawn(keep_alive(events), {.name = "keeping a stream of events alive"}).detach();
    co_await function->run(events);
    const mutex_guard turn = co_await events.turn_.scoped_lock();  // lets a half-sent comment finish
    group.cancel();
  };
  co_await task_group::scope(run_both);
}

std::string_view last_event_id(const request& r) noexcept { return r.field("Last-Event-ID"); }

}  // namespace gyre::http
