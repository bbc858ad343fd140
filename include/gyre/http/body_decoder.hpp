// gyre/http/body_decoder.hpp: finds the body of a message in the bytes after its head. RFC 9112 §6, §7.1.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/chunked_decoder.hpp>
#include <gyre/http/framing.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gyre::http {

/// Decodes a body of any framing, in pieces of any size and without copying it. Takes the same
/// limits as chunked_decoder.
///
///   body_decoder body;
///   body.begin(framing);
///   while (!body.at_end()) {
///     if (bytes.empty()) bytes = receive();       // at the end of the stream: body.end_of_stream()
///     use(body.take(bytes));                      // leaves the bytes after the body
///     if (body.error() != parse_error::none) …
///   }
///
/// Thread: one at a time.
class GYRE_API body_decoder {
 public:
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  explicit body_decoder(const chunk_limits& limits = {}, bool lenient = false) : chunks_(limits, lenient) {}

  /// Prepares for the body of a message with this framing. Without it, there is no body.
  void begin(const framing& body) noexcept {
    kind_ = body.body;
    received_ = 0;
    left_ = kind_ == body_kind::none ? 0 : kind_ == body_kind::sized ? body.length : unknown;
    if (kind_ == body_kind::chunked) chunks_.reset();
  }

  /// Removes bytes from the front of `bytes`, at most `max` at a time, and returns the piece of the body in them. Empty
  /// when more bytes are needed, at the end of the body, and when it is malformed. Lifetime: the piece is part of
  /// `bytes`.
  [[nodiscard]] std::string_view take(std::string_view& bytes, std::size_t max = std::string_view::npos);

  [[nodiscard]] bool at_end() const noexcept { return left_ == 0; }
  /// The reason why the body is malformed, or none. Nothing more is taken then.
  [[nodiscard]] parse_error error() const noexcept {
    return kind_ == body_kind::chunked ? chunks_.error() : parse_error::none;
  }
  /// The error that taking `bytes` would find. Takes nothing.
  [[nodiscard]] parse_error look_ahead(std::string_view bytes) const;
  /// True while only the end of the stream ends the body.
  [[nodiscard]] bool ends_with_stream() const noexcept { return left_ != 0 && kind_ == body_kind::until_end; }
  /// Nothing follows in the stream. Returns whether the body is complete.
  [[nodiscard]] bool end_of_stream() noexcept {
    if (kind_ == body_kind::until_end) left_ = 0;
    return at_end();
  }

  /// True while the stream carries the body unframed: its next left() bytes, or all that follow.
  [[nodiscard]] bool is_plain() const noexcept { return left_ != 0 && kind_ != body_kind::chunked; }
  /// Bytes of the body that are still to come, or `unknown`.
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  /// `count` bytes of a plain body have taken another way. At most left().
  void bypass(std::uint64_t count) noexcept {
    received_ += count;
    if (kind_ == body_kind::sized) left_ -= count;
  }

  /// Bytes of the body taken so far.
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  /// The length of the whole body, if its head has announced it.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept {
    if (kind_ == body_kind::chunked || left_ == unknown) return std::nullopt;
    return received_ + left_;
  }
  /// The trailer fields of a chunked body that is at its end. Lifetime: until begin() or destruction.
  [[nodiscard]] std::vector<field> trailers() const {
    return kind_ == body_kind::chunked ? chunks_.trailers() : std::vector<field>();
  }

 private:
  [[nodiscard]] std::string_view take_chunked(std::string_view& bytes, std::size_t max);

  chunked_decoder chunks_;
  body_kind kind_ = body_kind::none;
  std::uint64_t left_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace gyre::http
