// programs/resp_server/request_parser.cpp: finds RESP2 requests in a range of received bytes.
#include "programs/resp_server/request_parser.hpp"

#include "programs/resp_server/word.hpp"

#include <algorithm>
#include <optional>

namespace resp {
namespace {

struct number_line {
  std::int64_t value;
  std::size_t bytes;  // 0: more are needed
};
constexpr number_line invalid{0, std::string_view::npos};

number_line read_long_number(std::string_view text) noexcept {
  constexpr std::size_t max_digits = 20;  // "-9223372036854775808"
  const std::size_t digits = std::min(text.find('\r'), text.size());
  if (digits > max_digits) return invalid;
  const std::optional<std::int64_t> value = parse_integer(text.substr(0, digits));
  if (digits + 2 > text.size()) return {0, 0};
  return value ? number_line{*value, digits + 2} : invalid;
}

// Reads "12\r\n".
inline number_line read_number(std::string_view text) noexcept {
  if (text.size() >= 3 && text[1] == '\r') [[likely]] {
    const auto digit = static_cast<unsigned char>(text[0] - '0');
    return digit < 10 ? number_line{digit, 3} : invalid;
  }
  return read_long_number(text);
}

// The characters between the words of a line.
constexpr std::string_view blanks = " \t\r\v\f";

}  // namespace

parse_result request_parser::parse(std::string_view input) {
  if (input.size() < bytes_needed_) return {parse_status::need_more};
  if (position_ != 0) {
    if (base_ != input.data()) move_arguments(input.data());
    return parse_array(input);
  }
  bytes_needed_ = 1;
  arguments_.clear();
  if (input[0] != '*') return parse_line(input);
  const number_line count = read_number(input.substr(1));
  if (count.bytes == 0) return wait_for(input.size() + 1);
  if (count.bytes == invalid.bytes || count.value > static_cast<std::int64_t>(limits_->max_arguments))
    return fail("ERR Protocol error: invalid multibulk length");
  if (count.value <= 0) return {parse_status::request, 1 + count.bytes};
  missing_ = static_cast<std::size_t>(count.value);
  position_ = 1 + count.bytes;
  base_ = input.data();
  return parse_array(input);
}

parse_result request_parser::parse_array(std::string_view input) {
  for (; missing_ != 0; --missing_) {
    if (position_ == input.size()) return wait_for(position_ + 1);
    if (input[position_] != '$') return fail("ERR Protocol error: expected '$'");
    const number_line size = read_number(input.substr(position_ + 1));
    if (size.bytes == 0) return wait_for(input.size() + 1);
    if (size.bytes == invalid.bytes || size.value < 0 ||
        size.value > static_cast<std::int64_t>(limits_->max_bulk_bytes))
      return fail("ERR Protocol error: invalid bulk length");
    const auto bytes = static_cast<std::size_t>(size.value);
    const std::size_t begin = position_ + 1 + size.bytes;
    const std::size_t end = begin + bytes + 2;
    if (end > limits_->max_request_bytes) return fail("ERR Protocol error: too big request");
    if (end > input.size()) return wait_for(end);
    arguments_.emplace_back(input.data() + begin, bytes);
    position_ = end;
  }
  const std::size_t consumed = position_;
  reset();
  return {parse_status::request, consumed};
}

parse_result request_parser::parse_line(std::string_view input) {
  const std::size_t end = input.substr(0, limits_->max_line_bytes + 1).find('\n');
  if (end == std::string_view::npos) {
    if (input.size() > limits_->max_line_bytes) return fail("ERR Protocol error: too big inline request");
    return wait_for(input.size() + 1);
  }
  std::string_view line = input.substr(0, end);
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.empty()) break;
    arguments_.push_back(line.substr(0, line.find_first_of(blanks)));
    line.remove_prefix(arguments_.back().size());
  }
  return {parse_status::request, end + 1};
}

// The bytes have moved since some arguments were found in them. Their old memory may be freed, so addresses are
// subtracted as numbers.
void request_parser::move_arguments(const char* base) noexcept {
  const auto old_base = reinterpret_cast<std::uintptr_t>(base_);
  for (std::string_view& each : arguments_)
    each = {base + (reinterpret_cast<std::uintptr_t>(each.data()) - old_base), each.size()};
  base_ = base;
}

parse_result request_parser::wait_for(std::size_t bytes) noexcept {
  bytes_needed_ = bytes;
  return {parse_status::need_more};
}

parse_result request_parser::fail(std::string_view message) noexcept {
  error_ = message;
  return {parse_status::error};
}

}  // namespace resp
