// gyre/client/request_body.hpp: a request body that is made while it is sent.
#pragma once

#include <gyre/coro/async_generator.hpp>
#include <gyre/coro/frame_pool.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/field.hpp>
#include <gyre/stream/byte_stream.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::http {

class body_reader;

/// Gives the body of a request piece by piece.
class request_body_source : public pooled {
 public:
  request_body_source() noexcept = default;
  request_body_source& operator=(request_body_source&&) = delete;
  virtual ~request_body_source() = default;

  /// Returns the next piece; empty at the end.
  ///
  /// Lifetime: the piece stays valid until the next call. Cancel: the request is abandoned.
  /// Errors: an exception ends the request, and is thrown to its caller.
  virtual task<std::string_view> next() = 0;
  /// The body that a server receives, if next() gives the pieces of its receive() as they are. The client may then
  /// receive pieces itself: while several streams of the loop move bulk, the kernel moves them from socket to socket
  /// through pipes, if both bodies have a length and neither side is encrypted. Meanwhile the server does not look
  /// whether its client has left. Defaults to null.
  ///
  /// Lifetime: the body stays valid as long as this. Errors: receiving fails with those of body_reader.
  [[nodiscard]] virtual body_reader* passes_on() noexcept { return nullptr; }
  /// The fields that follow the body, asked for after its last piece. Only a body that is sent in chunks has them.
  /// Sending fails with std::invalid_argument for a field that may_be_trailer() excludes. Defaults to none.
  ///
  /// Lifetime: the fields stay valid as long as this.
  [[nodiscard]] virtual std::vector<field> trailers() { return {}; }
  /// Begins again, for a request that has to be repeated. Returns false when that is impossible, the default.
  virtual bool rewind() { return false; }
};

using request_body_owner = owned<request_body_source*, delete_target>;

/// A callable that returns the next piece as a task<std::string_view>.
template <class F>
concept body_callable = requires(F& f) {
  { f() } -> std::same_as<task<std::string_view>>;
};

template <body_callable F>
class callable_body final : public request_body_source {
 public:
  explicit callable_body(F&& function) : function_(std::move(function)) {}
  GYRE_CORO_WRAPPER task<std::string_view> next() override { return function_(); }

 private:
  F function_;
};

/// The rest of a byte stream: a file, a socket, the body of another response.
template <readable_stream S>
class stream_body final : public request_body_source {
 public:
  explicit stream_body(S&& stream) : stream_(std::move(stream)), buffer_(new std::byte[size]) {}
  ~stream_body() override { delete[] buffer_; }
  task<std::string_view> next() override {
    const std::size_t count = co_await stream_.read_some(std::span<std::byte>(buffer_, size));
    co_return std::string_view(reinterpret_cast<const char*>(buffer_), count);
  }

 private:
  static constexpr std::size_t size = std::size_t{64} << 10U;
  S stream_;
  std::byte* buffer_;
};

/// An element of a generator that makes a body: text, or bytes.
template <class T>
concept body_piece = std::convertible_to<T, std::string_view> || std::convertible_to<T, std::span<const std::byte>>;

/// The pieces that a generator yields.
template <class T>
class generated_body final : public request_body_source {
 public:
  explicit generated_body(async_generator<T>&& generator) : generator_(std::move(generator)) {}
  task<std::string_view> next() override {
    while (auto* const piece = co_await generator_.next()) {
      const std::string_view text = text_of(*piece);
      if (!text.empty()) co_return text;  // an empty piece is not the end
    }
    co_return std::string_view();
  }

 private:
  using element = typename async_generator<T>::element;
  static std::string_view text_of(element& piece) {
    if constexpr (std::convertible_to<element&, std::string_view>) {
      return piece;
    } else {
      const std::span<const std::byte> bytes = piece;
      return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
  }

  async_generator<T> generator_;
};

template <class Source>
  requires body_callable<Source> || readable_stream<Source>
[[nodiscard]] request_body_owner make_request_body(Source source) {
  if constexpr (body_callable<Source>)
    return request_body_owner(new callable_body<Source>(std::move(source)));
  else
    return request_body_owner(new stream_body<Source>(std::move(source)));
}

}  // namespace gyre::http
