// gyre/http/request.hpp: a request as a handler sees it.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/cookie.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/json_format.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/http/target.hpp>
#include <gyre/http/value_from_text.hpp>
#include <gyre/http/version.hpp>
#include <gyre/loop/owner_loop.hpp>
#include <gyre/net/address.hpp>
#include <gyre/net/secure_session.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gyre {
template <class T>
class task_handle;
struct task_state;
}  // namespace gyre

namespace gyre::http {

class exchange_link;
class served_request;

/// A request that is being answered.
///
/// Lifetime: made by the server. The request and every view it returns stay valid until its response has been sent.
/// Thread: that of its connection. Another thread may call the const functions while the handler waits for it.
class GYRE_API request {
 public:
  request& operator=(request&&) = delete;

  [[nodiscard]] std::string_view method() const noexcept { return now_.method; }
  /// The target as it was sent.
  [[nodiscard]] std::string_view target() const noexcept { return now_.target; }
  /// The path, percent-encoded as it was sent.
  [[nodiscard]] std::string_view path() const noexcept { return now_.parts.path; }
  [[nodiscard]] std::string_view query() const noexcept { return now_.parts.query; }
  /// The host that the client asked for, with the port if the client named one.
  [[nodiscard]] std::string_view host() const noexcept { return now_.host; }
  /// The version of HTTP that the client speaks.
  [[nodiscard]] http::version version() const noexcept { return now_.version; }

  [[nodiscard]] std::span<const http::field> fields() const noexcept { return now_.fields; }
  /// The value of the first field with this name, or empty when there is none.
  [[nodiscard]] std::string_view field(std::string_view name) const noexcept;
  /// The value of a cookie, or empty when there is none. RFC 6265 §4.2.
  [[nodiscard]] std::string_view cookie(std::string_view name) const noexcept;
  /// All cookies in order: `for (const http::cookie& each : request.cookies())`. Allocates nothing.
  [[nodiscard]] cookie_range cookies() const noexcept { return cookie_range(now_.fields); }
  /// The protocols that the client would rather speak, as a comma-separated list in its order of preference: "h2c,
  /// websocket". Empty when there are none. See response::switch_protocols.
  [[nodiscard]] std::string_view upgrade() const noexcept { return now_.upgrade; }

  /// The decoded text that "{name}" in the pattern of the route matched.
  /// Errors: std::out_of_range when the pattern has no parameter with this name.
  [[nodiscard]] std::string_view path_parameter(std::string_view name) const;
  /// The same as a number. Errors: status_error with 404 when the text is not a number: no such resource exists.
  template <number_from_text T>
  [[nodiscard]] T path_parameter(std::string_view name) const {
    const auto value = value_from_text<T>(path_parameter(name));
    if (!value) no_such_resource();
    return *value;
  }

  /// The pattern of the route that the request was led to, with the prefixes of its groups and mounts: "/users/{id}".
  /// Empty until a router has found it, and for 404 and 405. A browser's preflight has the pattern that it asks about.
  /// One route has one pattern, so it is a label for counters where the path is not. See exchange_observer.
  [[nodiscard]] std::string_view route_pattern() const noexcept { return now_.route; }

  /// The part of the path that "{name...}" matched, with a leading slash and percent-encoded as it was sent. This is
  /// the path as a mounted tree sees it. Returns the whole path when the route has no such parameter.
  [[nodiscard]] std::string_view rest_of_path() const noexcept {
    return now_.rest.empty() ? now_.parts.path : now_.rest;
  }

  /// The fields of the query, decoded on first use (see parse_form). Errors: status_error with 400 when the query has
  /// more than 1000 fields.
  [[nodiscard]] std::span<const form_field> query_parameters();
  /// The first field with this name. Errors: same as query_parameters().
  [[nodiscard]] std::optional<std::string_view> query_parameter(std::string_view name);
  /// The same as a number. Errors: same as query_parameters(); status_error with 400 when the text is not a number.
  template <number_from_text T>
  [[nodiscard]] std::optional<T> query_parameter(std::string_view name) {
    const auto text = query_parameter(name);
    if (!text) return std::nullopt;
    const auto value = value_from_text<T>(*text);
    if (!value) malformed_parameter(name);
    return value;
  }

  [[nodiscard]] body_reader& body() noexcept { return body_; }
  /// Reads the body as the fields of a form (application/x-www-form-urlencoded).
  ///
  /// Cancel: the part that has been read is lost. Errors: same as body_reader; status_error with 415 for a body of
  /// another type, 413 for one of more than 1000 fields.
  [[nodiscard]] task<std::vector<form_field>> form();
  /// Reads the body as the text of a JSON value (application/json, or a type that ends with +json). Does not validate
  /// it.
  ///
  /// Cancel: the part that has been read is lost. Errors: same as body_reader; status_error with 415 for a body of
  /// another type.
  [[nodiscard]] task<std::string> json_text();
  /// The same, converted to a type that has a json_format.
  ///
  /// Cancel: the part that has been read is lost. Errors: same as json_text(); status_error with 400 when the `read` of
  /// the format throws anything but a status_error.
  template <json_readable T>
  [[nodiscard]] task<T> json() {
    const std::string text = co_await json_text();
    co_return value_of<T>(text);
  }
  /// Rejects all other types.
  template <class T>
  GYRE_CORO_WRAPPER task<T> json() {
    static_assert(misused<T>,
                  "request::json gives values of types for which gyre::http::json_format is specialized with read()");
  }

  /// The address of the client. Empty when the connection has no internet address.
  [[nodiscard]] const address& peer() const noexcept { return *now_.peer; }

  /// The encryption of the connection: the verified name of the client, the host that it has asked for. Null when the
  /// server has none.
  [[nodiscard]] const secure_session* security() const noexcept;

  /// Sends an interim response, such as 103 Early Hints, before the response. Returns false when that is not possible:
  /// the client speaks HTTP/1.0, the response has begun, or the connection is broken. Several tasks may call it at the
  /// same time. RFC 9110 §15.2.
  ///
  /// Lifetime: `fields` stay valid until the await returns. Cancel: it may be sent in part; nothing can be sent after
  /// it. Errors: std::invalid_argument for a status outside of 102 to 199, a malformed field, or one of framing.
  [[nodiscard]] task<bool> send_interim(int status, std::span<const http::field> fields);

  /// Makes a task a part of the exchange, such as one that goes on reading the body while the response is sent. When
  /// the response has been sent, or cannot be sent, the server cancels the task, and waits for its end before it uses
  /// the rest of the body. Errors: std::bad_alloc, and the task is cancelled.
  void adopt(task_handle<void> task);

  /// A value that middleware passes to the handlers inside it, such as the user or the request ID. Returns the last
  /// value set, or empty when there is none. Lifetime: until another attribute is set.
  void set_attribute(std::string name, std::string value);
  [[nodiscard]] std::string_view attribute(std::string_view name) const noexcept;

 private:
  friend class served_request;  // the only class that makes them
  request() noexcept = default;

  struct path_value {
    std::string_view name;  // from the route
    std::string_view value;
  };
  template <json_readable T>
  static T value_of(const std::string& text) {
    try {
      return json_format<T>::read(text);
    } catch (const status_error&) {
      throw;
    } catch (const std::exception&) {
      malformed_json();
    }
  }
  [[noreturn]] static void malformed_json();
  [[noreturn]] static void no_such_resource();
  [[noreturn]] static void malformed_parameter(std::string_view name);

  /// Replaced as a whole for each request, so that nothing of the previous one remains.
  struct contents {
    std::string_view method = {};
    std::string_view target = {};
    target_parts parts = {};
    std::string_view host = {};
    std::string_view upgrade = {};
    std::span<const http::field> fields = {};
    http::version version = http::version::http_1_1;
    const address* peer = nullptr;
    exchange_link* link = nullptr;
    std::source_location handled_at = {};  // the line that made the handler
    std::string_view route = {};           // the pattern
    std::string_view rest = {};
    bool query_parsed = false;
  };
  /// Lists and texts, emptied for each request. They keep their memory.
  struct lists {
    std::vector<path_value> path_values;
    std::vector<std::string> decoded;  // path values that were encoded; never grows beyond its capacity
    std::vector<form_field> query_fields;
    std::vector<form_field> attributes;
    std::string upgrades;  // joined from several fields
  };

  owner_loop_of<"a request"> owner_;
  contents now_;
  lists lists_;
  body_reader body_;
  std::vector<task_state*> adopted_;
};

}  // namespace gyre::http
