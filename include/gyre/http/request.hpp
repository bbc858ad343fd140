// gyre/http/request.hpp: a request, as a handler sees it.
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
#include <gyre/net/address.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::http {

class listing_cache;
class open_files;

/// A request that is being answered.
///
/// Lifetime: made by the server; it, and every view that it gives, stays valid until its response has been sent.
/// Thread: that of its connection.
class GYRE_API request {
 public:
  request() noexcept = default;
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  [[nodiscard]] std::string_view method() const noexcept { return method_; }
  /// As it was sent.
  [[nodiscard]] std::string_view target() const noexcept { return target_; }
  /// Percent-encoded, as it was sent.
  [[nodiscard]] std::string_view path() const noexcept { return parts_.path; }
  [[nodiscard]] std::string_view query() const noexcept { return parts_.query; }
  /// The host that the client wants, with its port if it named one.
  [[nodiscard]] std::string_view host() const noexcept { return host_; }
  /// 0 for HTTP/1.0, 1 for HTTP/1.1.
  [[nodiscard]] int minor_version() const noexcept { return minor_version_; }

  [[nodiscard]] std::span<const http::field> fields() const noexcept { return fields_; }
  /// The value of the first field of that name, empty when there is none.
  [[nodiscard]] std::string_view field(std::string_view name) const noexcept;
  /// The value of a cookie, empty when there is none. RFC 6265 §4.2.
  [[nodiscard]] std::string_view cookie(std::string_view name) const noexcept;
  /// All cookies in their order, as `for (const http::cookie& each : request.cookies())`. Allocates nothing.
  [[nodiscard]] cookie_range cookies() const noexcept { return cookie_range(fields_); }
  /// The protocols that the client would rather speak, in its order of preference, as a list with commas: "h2c, websocket". Empty
  /// when there are none. See response::switch_protocols.
  [[nodiscard]] std::string_view upgrade() const noexcept { return upgrade_; }

  /// What stands in the place of "{name}" in the pattern of the route, decoded.
  /// Errors: std::out_of_range when the pattern has none of that name.
  [[nodiscard]] std::string_view path_parameter(std::string_view name) const;
  /// The same as a number. Errors: status_error with 404 when it is none: there is no such resource.
  template <number_from_text T>
  [[nodiscard]] T path_parameter(std::string_view name) const {
    const auto value = value_from_text<T>(path_parameter(name));
    if (!value) no_such_resource();
    return *value;
  }

  /// What "{name...}" stands for, percent-encoded, as it was sent, with a slash before it: the path as a mounted tree sees it.
  /// The whole path when the route has no such parameter.
  [[nodiscard]] std::string_view rest_of_path() const noexcept { return rest_.empty() ? parts_.path : rest_; }

  /// The fields of the query, decoded when they are first asked for. Errors: status_error with 400 when malformed.
  [[nodiscard]] std::span<const form_field> query_parameters();
  /// The first of that name. Errors: as above.
  [[nodiscard]] std::optional<std::string_view> query_parameter(std::string_view name);
  /// The same as a number. Errors: as above; 400 when it is none.
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
  /// Cancel: what had been read is lost. Errors: those of the body; status_error with 415 for a body of another type, 400 for
  /// a malformed one.
  [[nodiscard]] task<std::vector<form_field>> form();
  /// Reads the body as the text of a JSON value (application/json, or what ends with +json), which is not looked at.
  ///
  /// Cancel: what had been read is lost. Errors: those of the body; status_error with 415 for a body of another type.
  [[nodiscard]] task<std::string> json_text();
  /// The same as a value for which there is a json_format.
  ///
  /// Cancel: what had been read is lost. Errors: as above; status_error with 400 when the format's `read` throws anything but a
  /// status_error of its own.
  template <json_readable T>
  [[nodiscard]] task<T> json() {
    const std::string text = co_await json_text();
    co_return value_of<T>(text);
  }
  /// Refuses everything else.
  template <class T>
  GYRE_CORO_WRAPPER task<T> json() {
    static_assert(misused<T>,
                  "request::json gives values of types for which gyre::http::json_format is specialized with read()");
  }

  /// Who sent it; empty when the connection has no internet address.
  [[nodiscard]] const address& peer() const noexcept { return peer_; }

  /// Something that middleware tells the handlers behind it: who has logged in, the number of the request. The last value
  /// set; empty when there is none. Lifetime: until another one is set.
  void set_attribute(std::string name, std::string value);
  [[nodiscard]] std::string_view attribute(std::string_view name) const noexcept;

 private:
  friend class connection;
  friend class router;
  friend class static_files;
  friend void report_failure(const request& r, const char* kind) noexcept;
  struct path_value {
    std::string_view name;  // of the route
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
  void add_path_value(std::string_view name, std::string_view encoded);
  void join_upgrades();

  std::string_view method_;
  std::string_view target_;
  target_parts parts_;
  std::string_view rest_;
  std::string_view host_;
  std::string_view upgrade_;
  std::string_view route_;           // the pattern
  std::source_location handled_at_;  // the line that made the handler
  std::span<const http::field> fields_;
  int minor_version_ = 1;
  bool query_parsed_ = false;
  std::vector<path_value> path_values_;
  std::vector<std::string> decoded_;  // of path values that were encoded; never grows beyond its capacity
  std::vector<form_field> query_fields_;
  std::vector<form_field> attributes_;
  std::string upgrades_;  // of several fields
  body_reader body_;
  address peer_;
  open_files* files_ = nullptr;  // of the server
  listing_cache* listings_ = nullptr;
};

}  // namespace gyre::http
