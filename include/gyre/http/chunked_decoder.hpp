// gyre/http/chunked_decoder.hpp: decodes a chunked body, in pieces of any size. RFC 9112 §7.1.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/parse_error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::http {

struct chunk_limits {
  std::size_t line = 4096;     ///< bytes of the line with a chunk's size and extensions
  std::size_t trailer = 8192;  ///< bytes of the trailer section
  /// Bytes of sizes, extensions and line ends beyond 16 for each byte of data. Without this limit a sender could
  /// continue for ever while its body stays small. More is bad_chunk_extension.
  std::size_t overhead = std::size_t{16} << 10U;
};

/// Decodes a chunked body without copying its data. Strict, as head_parser is. A lenient one accepts white space after
/// a chunk's size. It is for user agents, and for gateways that write the chunks anew.
///
/// Thread: one at a time.
class GYRE_API chunked_decoder {
 public:
  /// Errors: std::invalid_argument for limits that refuse every body: a line of 0 bytes, or a trailer section of 0.
  explicit chunked_decoder(const chunk_limits& limits = {}, bool lenient = false) : limits_(limits), lenient_(lenient) {
    if (limits.line == 0 || limits.trailer == 0) refuse_limits();
  }

  enum class state : std::uint8_t { more, data, complete, failed };

  struct step {
    /// more: needs further bytes; data: a piece of the body; complete: its end
    state what;
    std::size_t consumed;  ///< bytes of `input` that are processed, `data` included
    std::string_view data = {};
  };

  /// Decodes the next bytes and returns the next piece of the body in them. Call it again with the rest of the input.
  /// Lifetime: `data` points into `input`.
  step next(std::string_view input);

  [[nodiscard]] parse_error error() const noexcept { return error_; }
  /// The trailer fields of a complete body. Lifetime: until reset() or destruction.
  [[nodiscard]] std::vector<field> trailers() const;
  void reset() noexcept;

 private:
  [[noreturn]] static void refuse_limits();
  enum class place : std::uint8_t { size_line, data, data_end, trailer, end };
  [[nodiscard]] bool take_line(std::string_view& input, std::size_t limit, parse_error too_long,
                               std::string_view& line);
  [[nodiscard]] bool parse_size_line(std::string_view line) noexcept;
  [[nodiscard]] bool count_overhead(std::string_view line) noexcept;
  [[nodiscard]] bool fail(parse_error error) noexcept {
    error_ = error;
    return false;
  }

  chunk_limits limits_;
  bool lenient_;
  place place_ = place::size_line;
  parse_error error_ = parse_error::none;
  std::uint64_t left_ = 0;      // bytes of the current chunk
  std::uint64_t data_ = 0;      // bytes of the body so far
  std::uint64_t overhead_ = 0;  // bytes of framing
  std::string partial_;         // a line whose end has not arrived
  std::string trailer_;         // the trailer lines, each with a line feed
};

}  // namespace gyre::http
