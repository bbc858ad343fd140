// programs/resp_server/request_parser.hpp: finds RESP2 requests in a range of received bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace resp {

/// Limits on what a peer may make the server hold for one request.
struct parser_limits {
  std::size_t max_arguments = 65'536;          ///< of an array
  std::size_t max_bulk_bytes = 64U << 20;      ///< of one argument
  std::size_t max_request_bytes = 128U << 20;  ///< of a whole array, headers included
  std::size_t max_line_bytes = 64U << 10;      ///< of an inline request or a header line
};

enum class parse_status : std::uint8_t { need_more, command, error };

struct [[nodiscard]] parse_result {
  parse_status status;
  std::size_t consumed;  ///< bytes at the front of the input that are no longer needed
};

/// Parses arrays of bulk strings and inline requests, one request per call, without copying.
///
///   command    arguments() holds at least one argument; drop `consumed` bytes when done with them.
///   need_more  drop `consumed` bytes (ignored requests: empty lines, `*0`; usually 0), append more
///              received bytes and call again. The parser remembers what it knows about the rest, so
///              its bytes must stay the same, but may have moved (a grown or compacted buffer).
///   error      error() is the text for the peer. The stream is lost: answer and close.
///
/// Like Redis, it does not check the bytes that should be CR LF after an argument, nor the
/// one that should be LF after CR.
class request_parser {
 public:
  explicit request_parser(const parser_limits& limits = {}) noexcept : limits_(limits) {}

  parse_result parse(std::string_view input);

  /// The arguments of the last `command`.
  ///
  /// Lifetime: valid until the next call of parse(), or until the input is freed or moved.
  [[nodiscard]] std::span<const std::string_view> arguments() const noexcept { return arguments_; }

  /// After `need_more`: the size that the input (without the consumed bytes) must have before parse() can get any
  /// further. Inside a large argument this is its end: grow the buffer once, to this size.
  [[nodiscard]] std::size_t bytes_needed() const noexcept { return bytes_needed_; }

  /// After `error`: without the leading "ERR ", for example "Protocol error: invalid bulk length".
  [[nodiscard]] std::string_view error() const noexcept { return error_; }

  /// The memory that the parser holds.
  [[nodiscard]] std::size_t allocated_bytes() const noexcept {
    return arguments_.capacity() * sizeof(std::string_view) + unquoted_.capacity();
  }

  /// Resets the parser for another stream.
  void reset() noexcept;

 private:
  enum class step : std::uint8_t { done, ignored, more, failed };
  static constexpr std::size_t unknown = static_cast<std::size_t>(-1);

  parse_result finish(step outcome, std::string_view input) noexcept;
  void move_arguments(const char* base) noexcept;
  void begin_request();
  step parse_request(std::string_view input);
  step parse_inline(std::string_view input);
  step parse_array_header(std::string_view input);
  step parse_bulks(std::string_view input);
  step parse_bulk_header(std::string_view input);
  step find_line_end(std::string_view input, char terminator, std::string_view too_big, std::size_t& end);
  step wait_for(std::size_t bytes) noexcept;
  step fail(std::string_view message);

  parser_limits limits_;
  std::vector<std::string_view> arguments_;
  const char* base_ = nullptr;        // address of the input when arguments_ were found; only compared
  std::size_t begin_ = 0;             // of this request: bytes before it were ignored
  std::size_t position_ = 0;          // of the first byte not parsed yet
  std::size_t scanned_ = 0;           // no line end before this
  std::size_t missing_ = 0;           // arguments of the array that are still to come
  std::size_t bulk_bytes_ = unknown;  // size of the argument at position_, once its header was read
  std::size_t bytes_needed_ = 1;
  bool in_request_ = false;
  bool failed_ = false;
  std::string unquoted_;
  std::string error_;
};

}  // namespace resp
