// gyre/client/request_body.hpp: a request body that is made while it is sent.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/byte_stream.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace gyre::http {

/// Gives the body of a request piece by piece.
class request_body_source {
 public:
  request_body_source() noexcept = default;
  request_body_source& operator=(request_body_source&&) = delete;
  virtual ~request_body_source() = default;

  /// Returns the next piece; empty at the end.
  ///
  /// Lifetime: the piece stays valid until the next call. Cancel: the request is abandoned.
  /// Errors: an exception ends the request, and is thrown to its caller.
  virtual task<std::string_view> next() = 0;
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

template <class Source>
  requires body_callable<Source> || readable_stream<Source>
[[nodiscard]] request_body_owner make_request_body(Source source) {
  if constexpr (body_callable<Source>)
    return request_body_owner(new callable_body<Source>(std::move(source)));
  else
    return request_body_owner(new stream_body<Source>(std::move(source)));
}

}  // namespace gyre::http
