// programs/resp_server/request_parser.hpp: finds RESP2 requests in a range of received bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace resp {

/// Limits on what a peer may make the server hold for one request.
struct parser_limits {
  std::size_t max_arguments = 65'536;          ///< of an array
  std::size_t max_bulk_bytes = 64U << 20;      ///< of one argument
  std::size_t max_request_bytes = 128U << 20;  ///< of a whole array, headers included
  std::size_t max_line_bytes = 64U << 10;      ///< of an inline request
};

enum class parse_status : std::uint8_t { need_more, request, error };

struct [[nodiscard]] parse_result {
  parse_status status;
  std::size_t consumed = 0;  ///< bytes at the front of the input that are no longer needed
};

/// Parses arrays of bulk strings, and lines of words ("inline requests"), one request per call, without copying.
///
///   request    arguments() has its words: none for an empty line or array, which get no reply. Drop `consumed` bytes.
///   need_more  append more received bytes and call again. The parser remembers what it knows about the beginning, so
///              its bytes must stay the same, but may have moved.
///   error      error() is the text for the peer. The stream is lost: answer and close.
///
/// Like Redis, it does not check the bytes that should be CR LF after an argument, nor the one that should be LF after
/// CR. Unlike in Redis, quotes in an inline request have no meaning.
class request_parser {
 public:
  /// Lifetime: `limits` must outlive it.
  explicit request_parser(const parser_limits& limits) noexcept : limits_(&limits) {}

  parse_result parse(std::string_view input);

  /// The arguments of the last request. Lifetime: until the next call, or until the input is freed or moved.
  [[nodiscard]] std::span<const std::string_view> arguments() const noexcept { return arguments_; }

  /// After `need_more`: the size that the input must have before parse() can get any further.
  [[nodiscard]] std::size_t bytes_needed() const noexcept { return bytes_needed_; }

  /// After `error`: for example "ERR Protocol error: invalid bulk length".
  [[nodiscard]] std::string_view error() const noexcept { return error_; }

  /// Forgets the beginning of a request.
  void reset() noexcept {
    position_ = 0;
    bytes_needed_ = 1;
  }

  [[nodiscard]] std::size_t allocated_bytes() const noexcept {
    return arguments_.capacity() * sizeof(std::string_view);
  }

 private:
  parse_result parse_line(std::string_view input);
  parse_result parse_array(std::string_view input);
  parse_result wait_for(std::size_t bytes) noexcept;
  parse_result fail(std::string_view message) noexcept;
  void move_arguments(const char* base) noexcept;

  const parser_limits* limits_;
  std::vector<std::string_view> arguments_;
  const char* base_ = nullptr;  // address of the input when arguments_ were found; only compared
  std::size_t position_ = 0;    // of the first byte of the array that is not parsed yet; 0: not in an array
  std::size_t missing_ = 0;     // arguments of the array that are still to come
  std::size_t bytes_needed_ = 1;
  std::string_view error_;
};

}  // namespace resp
