// gyre/http/server_sent_events.hpp: a stream of events for a page. HTML standard §9.2.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>
#include <gyre/sync/mutex.hpp>

#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::http {

/// One event. Lifetime: names memory of the caller.
struct server_event {
  std::string_view event = {};                          ///< its type; empty: "message"
  std::optional<std::string_view> data = {};            ///< any number of lines; without any the page hears of nothing
  std::optional<std::string_view> id = {};              ///< what the page says when it comes back: see last_event_id
  std::optional<std::chrono::milliseconds> retry = {};  ///< how long the page waits before it comes back
};

/// Appends the event as it is sent. Line ends in the data (LF, CR, CRLF) become lines.
/// Errors: std::invalid_argument for a type or an id with a line end or NUL in it, and for a negative time; `out` is as it
/// was then.
GYRE_API void append_event(std::string& out, const server_event& what);

/// Sends events. What was sent is on its way when a call returns.
///
/// Thread: that of the response. Overlap: several tasks may send; events never mix.
class GYRE_API event_writer {
 public:
  explicit event_writer(body_writer& out) noexcept : out_(&out) {}
  event_writer(const event_writer&) = delete;
  event_writer& operator=(const event_writer&) = delete;

  /// Sends an event: `co_await events.send({.event = "tick", .data = text, .id = number})`. Waits while the page does not
  /// take what was sent before.
  ///
  /// Lifetime: what the event names lives until the await returns. Cancel: the stream is cut off. Errors: as append_event;
  /// io_error when the connection is broken.
  [[nodiscard]] task<> send(server_event what);

  /// Sends something that pages do not see. Lifetime, Cancel, Errors: as send.
  [[nodiscard]] task<> comment(std::string_view text = {});

 private:
  friend struct event_stream_body;
  task<> send_bytes(std::string_view bytes);

  body_writer* out_;
  mutex turn_;
  bool sent_ = false;  // since the last look
};

struct event_stream_options {
  /// A comment is sent when nothing else was for so long: proxies close what is silent, and a page that has left is noticed.
  /// std::chrono::nanoseconds::max(): never.
  std::chrono::nanoseconds keep_alive = std::chrono::seconds(15);
};

// Calls the function of the user, and keeps the stream alive meanwhile.
struct GYRE_API event_stream_body {
  struct interface {
    virtual ~interface() = default;
    virtual task<> run(event_writer& events) = 0;
  };
  static response make(interface* function, const event_stream_options& options);

  interface* function;
  event_stream_options options;

  event_stream_body(interface* f, const event_stream_options& o) noexcept : function(f), options(o) {}
  event_stream_body(event_stream_body&& other) noexcept
      : function(std::exchange(other.function, nullptr)), options(other.options) {}
  event_stream_body& operator=(event_stream_body&&) = delete;
  ~event_stream_body() { delete function; }
  task<> operator()(body_writer& out);

 private:
  task<> keep_alive(event_writer& events) const;
};

/// A response of events that `f(event_writer&)`, which gives a task<>, sends:
///
///   return http::event_stream([&](http::event_writer& events) -> task<> {
///     while (auto news = co_await feed.receive()) co_await events.send({.data = *news});
///   });
///
/// When `f` returns the stream ends, and the page comes back after a while; a response 204 tells it not to.
/// Lifetime: `f` is kept until the stream has ended; so is the request.
template <class F>
  requires requires(F f, event_writer& events) {
    { f(events) } -> std::same_as<task<>>;
  }
[[nodiscard]] response event_stream(F f, const event_stream_options& options = {}) {
  struct model final : event_stream_body::interface {
    explicit model(F&& g) : function(std::move(g)) {}
    GYRE_CORO_WRAPPER task<> run(event_writer& events) override { return function(events); }
    F function;
  };
  return event_stream_body::make(new model(std::move(f)), options);
}

/// The id of the last event that the page has seen, when it comes back; else empty. Lifetime: the request's.
[[nodiscard]] GYRE_API std::string_view last_event_id(const request& r) noexcept;

}  // namespace gyre::http
