// examples/upstream_connection.hpp: a connection of reverse_proxy to the upstream server: an HTTP/1.1 client.
#pragma once

#include <gyre/gyre.hpp>
#include <gyre/http.hpp>
#include <gyre/io/bulk_size.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

/// Handles one request and its response at a time. Errors: io_error of the connection; bad_answer.
class upstream_connection {
 public:
  struct bad_answer : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  explicit upstream_connection(gyre::tcp_stream stream) : stream_(std::move(stream)) {}

  /// For writing only. Reads go through this class.
  [[nodiscard]] gyre::tcp_stream& stream() noexcept { return stream_; }

  /// Receives the head of the response to a request with this method. It is then in
  /// head(). Interim responses are dropped.
  gyre::task<> receive_head(std::string_view method) {
    drop_used();
    for (;;) {
      parser_.reset();
      while (true) {
        const gyre::http::parse_state state = parser_.parse(received_);
        if (state == gyre::http::parse_state::complete) break;
        if (state == gyre::http::parse_state::failed) throw bad_answer(std::string(describe(parser_.error())));
        const bool more = co_await receive();
        if (!more) throw bad_answer("the connection ended before the response");
      }
      const auto error = gyre::http::understand_response(parser_, method, framing_);
      if (error != gyre::http::parse_error::none) throw bad_answer(std::string(describe(error)));
      used_ = parser_.size();
      if (parser_.status() == 101) throw bad_answer("it switches to a protocol that nobody has asked for");
      if (parser_.status() >= 200) break;
      drop_used();
    }
    chunks_.reset();
    at_end_ = framing_.body == gyre::http::body_kind::none;
    left_ = framing_.body == gyre::http::body_kind::sized ? framing_.length : ~std::uint64_t{0};
  }
  /// Lifetime: its views are valid until receive_body is called.
  [[nodiscard]] const gyre::http::head_parser& head() const noexcept { return parser_; }
  [[nodiscard]] const gyre::http::framing& framing() const noexcept { return framing_; }

  /// Returns the next piece of the body, without chunk framing, or an empty one at the end.
  /// Lifetime: valid until the next call.
  gyre::task<std::string_view> receive_body() {
    while (!at_end_) {
      const std::string_view piece = take();
      if (!piece.empty()) co_return piece;
      if (at_end_) break;
      drop_used();
      const bool more = co_await receive();
      if (more) continue;
      if (framing_.body != gyre::http::body_kind::until_end)
        throw bad_answer("the connection ended within the response");
      at_end_ = true;
    }
    co_return std::string_view();
  }

  /// Frees the memory of a response that is complete. Its head is no longer valid.
  void release_buffer() noexcept {
    drop_used();
    if (received_.empty()) std::string().swap(received_);
  }

  /// True if nothing was received for this request. If the connection is broken then, the server had closed it before.
  [[nodiscard]] bool silent() const noexcept { return received_.size() == used_; }
  /// Called by the sender of the request: with false when it begins, with true when the request is complete.
  void set_request_sent(bool sent) noexcept { request_sent_ = sent; }
  /// True if request and response are complete and another request may follow. False after a 408: the server may have
  /// sent it before it saw the request, and the real response may still come.
  [[nodiscard]] bool reusable() const noexcept {
    return request_sent_ && at_end_ && framing_.keep_alive && received_.size() == used_ && parser_.status() != 408;
  }
  /// True if the kernel holds unread bytes, the end or an error. Must not be called during a read.
  [[nodiscard]] bool has_input() const noexcept {
    char byte = 0;
    const auto size = ::recv(stream_.native_descriptor(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return size >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }

 private:
  // Waits for more bytes. Returns false at the end of the stream. Uses read_some() rather than receive(), which reads
  // ahead: bytes that arrive on an idle connection must not go unnoticed.
  gyre::task<bool> receive() {
    constexpr std::size_t least = std::size_t{16} << 10U;
    constexpr std::size_t most = gyre::io::bulk_size;
    const std::size_t before = received_.size();
    // The rest of a large body is passed on in large pieces.
    const std::size_t room = at_end_ || left_ <= least ? least : most;
    received_.resize_and_overwrite(before + room, [](char*, std::size_t size) noexcept { return size; });
    std::size_t size = 0;
    try {
      size = co_await stream_.read_some(std::span<char>(received_).subspan(before));
    } catch (...) {
      received_.resize(before);
      throw;
    }
    received_.resize(before + size);
    co_return size > 0;
  }
  void drop_used() { received_.erase(0, std::exchange(used_, 0)); }

  std::string_view take() {
    const std::string_view available = std::string_view(received_).substr(used_);
    if (framing_.body == gyre::http::body_kind::chunked) {
      const auto step = chunks_.next(available);
      used_ += step.consumed;
      if (step.what == gyre::http::chunked_decoder::state::failed)
        throw bad_answer(std::string(describe(chunks_.error())));
      at_end_ = step.what == gyre::http::chunked_decoder::state::complete;
      return step.data;
    }
    const std::string_view piece = available.substr(0, std::min<std::uint64_t>(available.size(), left_));
    used_ += piece.size();
    if (framing_.body == gyre::http::body_kind::sized) {
      left_ -= piece.size();
      at_end_ = left_ == 0;
    }
    return piece;
  }

  gyre::tcp_stream stream_;
  gyre::http::head_parser parser_{gyre::http::head_parser::kind::response};
  gyre::http::framing framing_;
  gyre::http::chunked_decoder chunks_;
  std::string received_;  // since the beginning of the head or the piece
  std::size_t used_ = 0;  // bytes of it that are used
  std::uint64_t left_ = 0;
  bool request_sent_ = false;
  bool at_end_ = false;
};
