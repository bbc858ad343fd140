// src/client/response_input.hpp: understands the bytes of a response. Knows no I/O.
#pragma once

#include <gyre/http/body_decoder.hpp>
#include <gyre/http/framing.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/io/buffer_lease.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::http {

/// The head is gathered in memory of its own, where it stays while the response lives. The bytes of the body stay in
/// the buffer in which they arrived.
class response_input {
 public:
  explicit response_input(const head_limits& limits) : parser_(head_parser::kind::lenient_response, limits) {}

  /// Prepares for a response.
  void begin() noexcept;
  /// Gives memory back, except for buffers of usual size.
  void end() noexcept;

  /// Bytes that have arrived. To be called when nothing is left of the previous ones.
  void add(buffer_lease bytes) noexcept {
    lease_ = std::move(bytes);
    piece_ = lease_.text();
    received_any_ = true;
  }
  void add(std::string_view bytes) noexcept {
    piece_ = bytes;
    received_any_ = true;
  }
  void release_lease() noexcept {
    piece_ = {};
    lease_.release();
  }
  [[nodiscard]] bool received_any() const noexcept { return received_any_; }

  parse_state parse_head();
  [[nodiscard]] const head_parser& head() const noexcept { return parser_; }
  /// The head was an interim one; another follows.
  void drop_head();
  /// The head is the final one. Returns why the response cannot be understood.
  [[nodiscard]] parse_error begin_body(std::string_view request_method);

  /// Returns the next piece of the body, without framing. Empty when more bytes are needed, at its end, and when it is
  /// malformed. Lifetime: until bytes are added.
  std::string_view take(std::size_t max_size = ~std::size_t{0});
  /// True if further bytes of the stream belong to the body as they are, up to `left()`, and none wait here.
  [[nodiscard]] bool is_at_plain_bytes() const noexcept { return body_.is_plain() && available().empty(); }
  [[nodiscard]] std::uint64_t left() const noexcept { return body_.left(); }
  /// Bytes of the body have bypassed this.
  void bypass(std::uint64_t count) noexcept { body_.bypass(count); }
  /// The reason why the part of the body that has arrived is malformed, or none. Takes nothing.
  [[nodiscard]] parse_error look_ahead() const { return body_.look_ahead(available()); }
  [[nodiscard]] bool at_end() const noexcept { return body_.at_end(); }
  [[nodiscard]] parse_error error() const noexcept { return body_.error(); }
  /// The stream has ended. Returns whether the body is complete.
  [[nodiscard]] bool end_of_stream() noexcept { return body_.end_of_stream(); }
  /// All that is left has arrived already.
  [[nodiscard]] bool has_whole_body() const noexcept {
    return body_.at_end() || (body_.left() != body_decoder::unknown && available().size() >= body_.left());
  }
  /// Removes and returns the bytes after a response without a body.
  [[nodiscard]] std::string take_rest() {
    std::string rest = gathered_.substr(used_);
    rest.append(piece_);
    used_ = gathered_.size();
    release_lease();
    return rest;
  }
  /// Bytes beyond this response.
  [[nodiscard]] bool has_more() const noexcept {
    return available().size() > (body_.left() == body_decoder::unknown ? 0 : body_.left());
  }
  [[nodiscard]] const http::framing& framing() const noexcept { return framing_; }
  [[nodiscard]] std::uint64_t received() const noexcept { return body_.received(); }
  /// Nothing when only the end of the body will show its length.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept {
    return framing_.body == body_kind::until_end ? std::nullopt : body_.length();
  }
  [[nodiscard]] std::vector<field> trailers() const { return body_.trailers(); }

 private:
  [[nodiscard]] std::string_view available() const noexcept {
    return used_ < gathered_.size() ? std::string_view(gathered_).substr(used_) : piece_;
  }

  void unfold() noexcept;

  head_parser parser_;
  http::framing framing_;
  body_decoder body_{{}, true};
  std::string gathered_;    // the head, and what came with it before its end was found
  std::size_t used_ = 0;    // bytes of it
  buffer_lease lease_;      // the owner of piece_, unless it is the caller's
  std::string_view piece_;  // not used yet
  bool received_any_ = false;
};

}  // namespace gyre::http
