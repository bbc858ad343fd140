// gyre/client/client_request.hpp: builds a request and sends it.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/client_response.hpp>
#include <gyre/client/request_body.hpp>
#include <gyre/client/url.hpp>
#include <gyre/coro/async_generator.hpp>
#include <gyre/coro/frame_pool.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/json_format.hpp>
#include <gyre/loop/deadline.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace gyre::http {

/// Told of interim responses: 103 Early Hints and the like.
class interim_observer : public pooled {
 public:
  interim_observer() noexcept = default;
  interim_observer& operator=(interim_observer&&) = delete;
  virtual ~interim_observer() = default;
  /// Lifetime: the fields are valid until the task has ended. Cancel: the request is abandoned.
  /// Errors: an exception ends the request, and is thrown to its caller.
  virtual task<> see(int status, std::span<const field> fields) = 0;
};
using interim_owner = owned<interim_observer*, delete_target>;

/// A part of a form with files.
struct form_part {
  std::string_view name;
  std::string_view content;
  std::string_view file_name = {};   ///< empty: a plain value
  std::string_view media_type = {};  ///< empty: by the file name; text/plain for a plain value
};

/// A request that is being prepared:
///
///   auto response = co_await client.request("PUT", "https://a.test/items/7")
///                       .header("If-Match", tag).json(text).timeout(5s).send();
///
/// Text is copied. Names and values with line ends or zero bytes are refused at once.
/// Errors, of all functions that set something: std::invalid_argument, with a sentence.
/// Thread: that of its client. Lifetime: may outlive the client; sending then fails.
class GYRE_API client_request {
 public:
  /// Appends a field. The client itself sets Content-Length, Transfer-Encoding, Expect and the like, which are refused.
  /// Host, User-Agent, Accept and Authorization replace the client's own. "TE: trailers" tells the server that the
  /// program reads client_body::trailers().
  client_request& header(std::string_view name, std::string_view value);
  /// Appends "name=value" to the query of the URL.
  client_request& query(std::string_view name, std::string_view value);
  /// Sends this path and query in place of those of the URL, byte for byte: for proxies, and for servers that tell
  /// "/a/../b" from "/b". A redirect replaces it. Errors: std::invalid_argument for a target that does not begin with a
  /// slash, or holds white space, a number sign, or bytes that are not ASCII.
  client_request& target(std::string_view text);
  /// Basic authentication. Errors: std::invalid_argument when the name contains a colon.
  client_request& basic_auth(std::string_view user, std::string_view password);
  client_request& bearer_token(std::string_view token);

  /// The body, and its Content-Type unless that is empty. A later body replaces an earlier one.
  client_request& body(std::string_view text, std::string_view media_type = {});
  /// A body that is made while it is sent: a callable that returns the next piece as a task<std::string_view> (empty at
  /// the end), or a byte stream such as a file, which is read to its end. It is sent in chunks, unless its length is
  /// given. It can be sent only once: a redirect that repeats the body fails, and there is no retry.
  ///
  /// A source that delivers nothing once the server has answered is given up, and the connection closed: after a second
  /// if the response is complete, otherwise after client_timeouts::between_bytes.
  template <class Source>
    requires(!std::convertible_to<Source, std::string_view>) && (body_callable<Source> || readable_stream<Source>)
  client_request& body(Source source, std::optional<std::uint64_t> length = {}, std::string_view media_type = {}) {
    return set_source(make_request_body(std::move(source)), length, media_type);
  }
  /// The same, made of the pieces that a generator yields: text or bytes. An empty piece is skipped. An exception of
  /// the generator ends the request and is thrown to its caller. When the request ends before the body, the generator
  /// is destroyed at a co_yield; a cancel also ends its current await.
  template <class T>
    requires body_piece<typename async_generator<T>::element&>
  client_request& body(async_generator<T> pieces, std::optional<std::uint64_t> length = {},
                       std::string_view media_type = {}) {
    return set_source(request_body_owner(new generated_body<T>(std::move(pieces))), length, media_type);
  }
  /// The same with a source of its own type, which may be able to begin again.
  client_request& body(request_body_owner source, std::optional<std::uint64_t> length = {},
                       std::string_view media_type = {}) {
    return set_source(std::move(source), length, media_type);
  }
  /// Passes on the rest of the body of a request that a server of the program receives, without its trailers. See
  /// request_body_source::passes_on. Lifetime: `from` must outlive send(), and after full_duplex() the
  /// task that sends it.
  client_request& body(body_reader& from, std::string_view media_type = {});
  /// A JSON text.
  client_request& json(std::string_view text) { return body(text, "application/json"); }
  /// A value of the program. See json_format.
  template <json_writable T>
    requires(!std::convertible_to<const T&, std::string_view>)
  client_request& json(const T& value) {
    const std::string text = json_format<T>::write(value);
    return body(text, "application/json");
  }
  /// A form: application/x-www-form-urlencoded.
  client_request& form(std::initializer_list<std::pair<std::string_view, std::string_view>> values);
  /// A form with files: multipart/form-data. RFC 7578.
  client_request& multipart(std::initializer_list<form_part> parts);
  /// Waits for "100 Continue" before the body is sent, so that a server can refuse it. RFC 9110 §10.1.1.
  client_request& expect_continue(bool wanted = true) noexcept;

  /// Hands out the response as soon as its head has arrived, while a task goes on sending the body. Without this, a
  /// response with a status below 300 waits until the body has been sent. See client_response::sending for the lifetime
  /// of the body. Not for a request that offers another protocol.
  client_request& full_duplex(bool wanted = true) noexcept;

  /// Offers to speak another protocol on this connection: "websocket", or a list in the order of preference. A server
  /// that agrees answers 101 (see client_response::take_stream); any other answer is an ordinary response. RFC 9110
  /// §7.8.
  client_request& upgrade(std::string_view protocols);

  /// The time for all of it, until the end of the response's body; replaces client_timeouts::total.
  template <class Rep, class Period>
  client_request& timeout(std::chrono::duration<Rep, Period> limit) {
    return set_total(whole_nanoseconds(limit));
  }
  /// The most redirects that are followed; replaces redirect_policy::most. With 0, the response with the redirect is
  /// the result.
  client_request& redirects(unsigned max) noexcept;
  /// Calls `observer(status, fields)` for each interim response (1xx). A task<> that it returns is awaited, within the
  /// time limits of the request.
  template <class F>
    requires requires(F& f, std::span<const field> fields) { f(100, fields); }
  client_request& on_interim(F observer) {
    struct calls final : interim_observer {
      explicit calls(F&& f) : function(std::move(f)) {}
      task<> see(int status, std::span<const field> fields) override {
        if constexpr (std::same_as<std::invoke_result_t<F&, int, std::span<const field>>, task<>>) {
          co_await function(status, fields);
        } else {
          function(status, fields);
          co_return;
        }
      }
      F function;
    };
    return set_observer(interim_owner(new calls(std::move(observer))));
  }

  [[nodiscard]] std::string_view method() const;
  [[nodiscard]] const http::url& url() const;
  /// Whether the program has set a field with this name.
  [[nodiscard]] bool has_header(std::string_view name) const;
  /// Empty for a body that is made while it is sent.
  [[nodiscard]] std::string_view body_text() const;
  /// Whether its body is made while it is sent, so that there is only one.
  [[nodiscard]] bool has_streamed_body() const;
  /// The same request once more, without its observer: for middleware that may have to send it again.
  /// Errors: std::logic_error for a body that is made while it is sent.
  [[nodiscard]] client_request copy() const;

  /// Sends it, through the middleware of its client, and waits for the head of the response. The request cannot be used
  /// afterwards.
  ///
  /// Cancel: the connection is closed; the server may have received the request.
  /// Errors: client_error; timed_out; io_error of the connection; tls_error; the exception of the body's source.
  [[nodiscard]] GYRE_CORO_WRAPPER task<client_response> send();

  /// Answers it without sending it: for middleware that caches, or replaces a server. The framing fields
  /// (Content-Length, Transfer-Encoding, Content-Encoding) are made from `body`. Everything is copied.
  /// Errors: std::invalid_argument for a status outside of 200 to 999, or a field that may not be.
  [[nodiscard]] client_response answer(int status, std::span<const field> fields, std::string_view body) &&;

  /// For next_sender: as send(), past so many functions of the middleware. Cancel, errors: same as send().
  [[nodiscard]] GYRE_CORO_WRAPPER task<client_response> send_after(std::size_t functions) &&;
  /// For client.
  explicit client_request(client_exchange& prepared) noexcept : exchange_(prepared) {}

 private:
  static void release(client_exchange* unused) noexcept;
  [[nodiscard]] client_exchange& open() const;
  client_request& set_source(request_body_owner source, std::optional<std::uint64_t> length,
                             std::string_view media_type);
  client_request& set_total(std::chrono::nanoseconds limit) noexcept;
  client_request& set_observer(interim_owner observer) noexcept;

  owned<client_exchange*, &release> exchange_;
};

}  // namespace gyre::http
