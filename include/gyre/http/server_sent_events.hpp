// gyre/http/server_sent_events.hpp: sends a stream of events to a page. HTML standard §9.2.
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

/// One event. Lifetime: points to memory of the caller.
struct server_event {
  std::string_view event = {};                          ///< its type; empty means "message"
  std::optional<std::string_view> data = {};            ///< any number of lines; without data the page gets no event
  std::optional<std::string_view> id = {};              ///< sent back when the page reconnects: see last_event_id
  std::optional<std::chrono::milliseconds> retry = {};  ///< how long the page waits before it reconnects
};

/// Appends the event in its wire format. Line ends in the data (LF, CR, CRLF) become lines.
/// Errors: std::invalid_argument for a type or an id that contains a line end or NUL, and for a negative time. `out` is
/// then unchanged.
GYRE_API void append_event(std::string& out, const server_event& what);

/// Sends events. An event has been handed to the connection when its call returns.
///
/// Thread: that of the response. Overlap: several tasks may send; events never mix.
class GYRE_API event_writer {
 public:
  explicit event_writer(body_writer& out) noexcept : out_(&out) {}
  event_writer& operator=(event_writer&&) = delete;

  /// Sends an event: `co_await events.send({.event = "tick", .data = text, .id = number})`. Waits while the page does
  /// not accept earlier events.
  ///
  /// Lifetime: the memory that the event points to stays valid until the await returns. Cancel: the stream is cut off.
  /// Errors: same as append_event; io_error when the connection is broken.
  [[nodiscard]] task<> send(server_event what);

  /// Sends a comment, which pages do not see. Lifetime, Cancel, Errors: as send.
  [[nodiscard]] task<> comment(std::string_view text = {});

 private:
  friend struct event_stream_body;
  task<> send_bytes(std::string_view bytes);

  body_writer* out_;
  mutex turn_;
  bool sent_ = false;  // since the last keep-alive check
};

struct event_stream_options {
  /// Sends a comment after this much silence: proxies close silent connections, and the server notices that a page has
  /// left. std::chrono::nanoseconds::max() means never.
  std::chrono::nanoseconds keep_alive = std::chrono::seconds(15);
};

// Calls the user's function and keeps the stream alive meanwhile.
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

/// A response with the events that `f(event_writer&)`, which returns a task<>, sends:
///
///   return http::event_stream([&](http::event_writer& events) -> task<> {
///     while (auto news = co_await feed.receive()) co_await events.send({.data = *news});
///   });
///
/// The stream ends when `f` returns, and the page reconnects after a while. A response with 204 tells it not to.
/// Lifetime: `f` and the request are kept until the stream has ended.
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

/// The id of the last event that a reconnecting page has seen, otherwise empty. Lifetime: the request's.
[[nodiscard]] GYRE_API std::string_view last_event_id(const request& r) noexcept;

}  // namespace gyre::http
