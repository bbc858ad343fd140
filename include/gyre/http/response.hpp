// gyre/http/response.hpp: the answer of a handler.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/async_generator.hpp>
#include <gyre/coro/frame_pool.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/json_format.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/stream/any_stream.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::http {

/// Makes the body of a response piece by piece. For authors of new kinds of bodies; users pass a callable.
struct body_producer : pooled {
  virtual ~body_producer() = default;
  virtual task<> produce(body_writer& out) = 0;
};

/// Speaks another protocol on a connection that was HTTP. For authors of protocols; users pass a callable.
struct protocol_handler {
  virtual ~protocol_handler() = default;
  virtual task<> run(any_stream stream) = 0;
};

struct response_state;

/// A status, fields and a body: a value, a file, or a producer that makes it piece by piece.
///
/// The server sets Content-Length, Connection and Transfer-Encoding; they cannot be set as fields. A Date, Server or
/// Keep-Alive field replaces that of the server. The memory of responses is reused, so a response with a small body
/// allocates nothing.
/// Using a moved-from response stops the program with a message. A handler that returns one is answered with 500.
/// Thread: any, one at a time.
class GYRE_API response {
 public:
  /// Errors, here and in all functions below: std::invalid_argument for a status outside of 200 to 999, a field name
  /// that is not a token, or a field value that contains a line end.
  explicit response(int status = 200);
  // The body is copied, or moved in when it is a std::string.
  static response text(std::string_view body);
  static response text(const char* body) { return text(std::string_view(body)); }
  static response text(std::string&& body);
  static response html(std::string_view body);
  static response html(const char* body) { return html(std::string_view(body)); }
  static response html(std::string&& body);
  /// The text of a JSON value, made by any JSON library.
  static response json(std::string_view body);
  static response json(const char* body) { return json(std::string_view(body)); }
  static response json(std::string&& body);
  /// A value of a type that has a json_format. Errors: whatever its `write` throws.
  template <class T>
    requires(json_writable<T> && !std::convertible_to<const T&, std::string_view>)
  static response json(const T& value) {
    return json(std::string(json_format<T>::write(value)));
  }
  /// Rejects all other types.
  template <class T>
    requires(!json_writable<T> && !std::convertible_to<const T&, std::string_view> &&
             !std::convertible_to<const T&, std::string>)
  static response json(const T& /*value*/) {
    static_assert(misused<T>,
                  "response::json takes text, or a value of a type for which gyre::http::json_format is "
                  "specialized with write()");
    return response();
  }
  static response bytes(std::string&& body, std::string_view media_type = "application/octet-stream");
  /// The body is not copied. Lifetime: `body` stays valid until the response has been sent. Data compiled into the
  /// program always does.
  static response borrowed(std::string_view body, std::string_view media_type);

  /// 204. RFC 9110 §15.3.5.
  static response no_content() { return response(204); }
  /// A redirect. The status defaults to 303: the client gets the result from there. White space and other characters
  /// that a URI reference does not hold are encoded: see encode_reference(). RFC 9110 §10.2.2, §15.4.
  /// Errors: same as the constructor; std::invalid_argument for a location that holds a control character.
  static response redirect(std::string_view location, int status = 303);
  /// A status whose body is one line of text: `message`, or a description of the status.
  static response error(int status, std::string_view message = {});

  /// The answer to an exception that a handler has thrown.
  static response error(const status_error& thrown) { return error(thrown.status(), thrown.what()); }

  /// A part of an open file. It is not copied through this program if the connection supports that.
  static response file(fs::file file, std::uint64_t offset, std::uint64_t length, std::string_view media_type);
  static response file(owned_fd file, std::uint64_t offset, std::uint64_t length, std::string_view media_type);

  /// A body written by `f(body_writer&)`, which returns a task<>. It is sent in chunks, unless set_length announces its
  /// length. `f` runs after the handler has returned, and is cancelled when the client leaves. An exception before its
  /// first byte becomes the answer: see body_writer.
  /// Lifetime: `f` and the request are kept until the body has been sent.
  template <class F>
    requires requires(F f, body_writer& out) {
      { f(out) } -> std::same_as<task<>>;
    }
  static response stream(F f, std::string_view media_type = "application/octet-stream") {
    struct model final : body_producer {
      explicit model(F&& g) : function(std::move(g)) {}
      GYRE_CORO_WRAPPER task<> produce(body_writer& out) override { return function(out); }
      F function;
    };
    return produced(new model(std::move(f)), media_type);
  }
  /// Rejects all other types.
  template <class F>
  static response stream(F /*other*/, std::string_view /*media_type*/ = {}) {
    static_assert(misused<F>,
                  "response::stream takes a function that is called with a body_writer& and returns a "
                  "task<>, or an async_generator of text");
    return response();
  }
  /// A body made of the pieces that a generator yields. Pieces are convertible to std::string_view.
  template <std::convertible_to<std::string_view> T>
  static response stream(async_generator<T> pieces, std::string_view media_type = "application/octet-stream") {
    struct model final : body_producer {
      explicit model(async_generator<T>&& g) : generator(std::move(g)) {}
      task<> produce(body_writer& out) override {
        while (auto* const piece = co_await generator.next()) co_await out.write(*piece);
      }
      async_generator<T> generator;
    };
    return produced(new model(std::move(pieces)), media_type);
  }

  /// Answers 101, or 200 for CONNECT. From then on `f(any_stream)`, which returns a task<>, owns the connection. A
  /// client that has not asked for this protocol gets 426 instead; "name" also matches a request for "name/version".
  /// Before the switch, the server skips up to 64 KiB of a body that the handler has not read, and answers 400 if it
  /// cannot. No other response may answer CONNECT with 2xx: it becomes 501. Exceptions of `f` go to the loop's
  /// exception handler. RFC 9110 §7.8, §9.3.6.
  /// Errors: same as the constructor, for a protocol that is not a field value.
  template <class F>
  static response switch_protocols(std::string_view protocol, F f) {
    static_assert(
        requires(any_stream stream) {
          { f(std::move(stream)) } -> std::same_as<task<>>;
        }, "switch_protocols takes a function that is called with an any_stream and returns a task<>");
    struct model final : protocol_handler {
      explicit model(F&& g) : function(std::move(g)) {}
      GYRE_CORO_WRAPPER task<> run(any_stream stream) override { return function(std::move(stream)); }
      F function;
    };
    return switched(protocol, new model(std::move(f)));
  }

  [[nodiscard]] int status() const noexcept;
  response& set_status(int status) &;
  response&& set_status(int status) && { return std::move(set_status(status)); }

  /// Adds a field and keeps others with the same name. Content-Type sets the media type. Errors: same as the
  /// constructor; std::invalid_argument for a field that the server sets.
  response& add_field(std::string_view name, std::string_view value) &;
  response&& add_field(std::string_view name, std::string_view value) && { return std::move(add_field(name, value)); }
  /// Replaces all fields with this name.
  response& set_field(std::string_view name, std::string_view value) &;
  response&& set_field(std::string_view name, std::string_view value) && { return std::move(set_field(name, value)); }
  void remove_field(std::string_view name) noexcept;
  /// The first field with this name. Lifetime: until the fields are changed.
  [[nodiscard]] std::optional<std::string_view> field(std::string_view name) const noexcept;

  [[nodiscard]] std::string_view media_type() const noexcept;
  void set_media_type(std::string_view type) &;
  /// Announces the length of a body that is made piece by piece. A body of another length is an error: it is cut off,
  /// or answered with 500 if nothing of it has been sent, and reported to the loop's exception handler.
  void set_length(std::uint64_t bytes) & noexcept;
  /// The length, if it is known. Nothing for a body that is made piece by piece without an announcement.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept;
  /// The body if it is a value, otherwise nothing. Lifetime: until the body is changed or this response is destroyed.
  [[nodiscard]] std::optional<std::string_view> body() const noexcept;
  void set_body(std::string&& body) &;
  /// Releases the producer of a body that is made piece by piece, so that another producer can wrap it. Middleware that
  /// compresses does this. Null when the body is of another kind. The caller owns it.
  [[nodiscard]] body_producer* release_producer() noexcept;
  /// Takes ownership of `producer`. The length is no longer known.
  void set_producer(body_producer* producer) & noexcept;

  /// Closes the connection after this response has been sent.
  void close_connection() & noexcept;

  /// For the server.
  [[nodiscard]] response_state& state() const noexcept {
    if (state_ == nullptr) [[unlikely]]
      stop_for_moved();
    return *state_;
  }
  [[nodiscard]] bool was_moved_from() const noexcept { return state_ == nullptr; }

 private:
  static response produced(body_producer* producer, std::string_view media_type);
  static response switched(std::string_view protocol, protocol_handler* handler);
  [[noreturn]] static void stop_for_moved() noexcept;

  static void recycle(response_state* state) noexcept;
  owned<response_state*, &recycle> state_;
};

}  // namespace gyre::http
