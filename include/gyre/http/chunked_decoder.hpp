// gyre/http/chunked_decoder.hpp: a body in chunks, from bytes that come in any pieces. RFC 9112 §7.1.
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
  std::size_t line = 4096;     ///< bytes of the line with the size and the extensions of a chunk
  std::size_t trailer = 8192;  ///< bytes of the trailer section
  /// Bytes of sizes, extensions and line ends beyond 16 for each byte of data. Without a limit a sender could go on for ever
  /// without a body that is too large. More: bad_chunk_extension.
  std::size_t overhead = std::size_t{16} << 10U;
};

/// Takes a chunked body apart without copying its data. Strict, as head_parser is.
///
/// Thread: one at a time.
class GYRE_API chunked_decoder {
 public:
  explicit chunked_decoder(const chunk_limits& limits = {}) noexcept : limits_(limits) {}

  enum class state : std::uint8_t { more, data, complete, failed };

  struct step {
    state what;            ///< more: needs bytes that have not come; data: a piece of the body; complete: its end
    std::size_t consumed;  ///< bytes of `input` that are done with, `data` included
    std::string_view data = {};
  };

  /// Looks at the next bytes, and gives the next piece of the body that is in them. Call it again with what is left.
  /// Lifetime: `data` lies in `input`.
  step next(std::string_view input);

  [[nodiscard]] parse_error error() const noexcept { return error_; }
  /// Fields behind the body, when it is complete. Lifetime: as this.
  [[nodiscard]] std::vector<field> trailers() const;
  void reset() noexcept;

 private:
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
  place place_ = place::size_line;
  parse_error error_ = parse_error::none;
  std::uint64_t left_ = 0;      // of the chunk
  std::uint64_t data_ = 0;      // bytes of the body so far
  std::uint64_t overhead_ = 0;  // bytes around them
  std::string partial_;         // a line whose end has not come
  std::string trailer_;         // its lines, each with a line feed
};

}  // namespace gyre::http
