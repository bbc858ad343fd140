// programs/resp_server/request_parser.cpp: finds RESP2 requests in a range of received bytes.
#include "programs/resp_server/request_parser.hpp"

#include "programs/resp_server/inline_request.hpp"
#include "programs/resp_server/integer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace resp {
namespace {

constexpr std::size_t kept_arguments = 1024;  // capacity that is kept after a larger request

// Reads "<digits>\r\n" at the beginning of `text` in its common form: at most 9 digits, no sign, complete. Returns the
// number of bytes read, or 0 when the caller has to use the slow path.
inline std::size_t read_short_number(std::string_view text, std::size_t& value) noexcept {
  std::size_t number = 0;
  std::size_t at = 0;
  for (; at < text.size() && at < 10; ++at) {
    const auto digit = static_cast<unsigned char>(text[at] - '0');
    if (digit > 9) break;
    number = number * 10 + digit;
  }
  if (at == 0 || at == 10 || (at > 1 && text[0] == '0')) return 0;
  if (text.size() - at < 2 || text[at] != '\r') return 0;
  value = number;
  return at + 2;
}

}  // namespace

parse_result request_parser::parse(std::string_view input) {
  if (failed_) return {parse_status::error, 0};
  if (input.size() < bytes_needed_) return {parse_status::need_more, 0};
  if (in_request_ && base_ != input.data()) move_arguments(input.data());
  step outcome = step::more;
  do {
    outcome = parse_request(input);
  } while (outcome == step::ignored);
  return finish(outcome, input);
}

parse_result request_parser::finish(step outcome, std::string_view input) noexcept {
  if (outcome == step::failed) {
    failed_ = true;
    return {parse_status::error, 0};
  }
  if (outcome == step::done) {
    const std::size_t consumed = position_;
    in_request_ = false;
    begin_ = position_ = scanned_ = 0;
    bytes_needed_ = 1;
    return {parse_status::command, consumed};
  }
  const std::size_t consumed = begin_;
  base_ = input.data() + consumed;
  position_ -= consumed;
  scanned_ -= std::min(scanned_, consumed);
  bytes_needed_ -= consumed;
  begin_ = 0;
  return {parse_status::need_more, consumed};
}

// The bytes have moved since some arguments were found in them. Their old memory may be freed, so
// addresses are subtracted as numbers.
void request_parser::move_arguments(const char* base) noexcept {
  const auto old_base = reinterpret_cast<std::uintptr_t>(base_);
  for (std::string_view& argument : arguments_) {
    const auto offset = reinterpret_cast<std::uintptr_t>(argument.data()) - old_base;
    argument = {base + offset, argument.size()};
  }
  base_ = base;
}

void request_parser::begin_request() {
  in_request_ = true;
  begin_ = position_;
  scanned_ = position_;
  missing_ = 0;
  bulk_bytes_ = unknown;
  if (arguments_.capacity() > kept_arguments) std::vector<std::string_view>().swap(arguments_);
  arguments_.clear();
}

request_parser::step request_parser::parse_request(std::string_view input) {
  if (!in_request_) begin_request();
  if (missing_ != 0) return parse_bulks(input);
  if (position_ == input.size()) return wait_for(position_ + 1);
  return input[position_] == '*' ? parse_array_header(input) : parse_inline(input);
}

request_parser::step request_parser::parse_inline(std::string_view input) {
  std::size_t end = 0;
  const step found = find_line_end(input, '\n', "Protocol error: too big inline request", end);
  if (found != step::done) return found;
  std::string_view line = input.substr(position_, end - position_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!split_inline_request(line, unquoted_, arguments_)) return fail("Protocol error: unbalanced quotes in request");
  position_ = end + 1;
  if (!arguments_.empty()) return step::done;
  in_request_ = false;
  return step::ignored;
}

request_parser::step request_parser::parse_array_header(std::string_view input) {
  std::size_t count = 0;
  if (const std::size_t read = read_short_number(input.substr(position_ + 1), count); read != 0) {
    position_ += 1 + read;
  } else {
    std::size_t end = 0;
    const step found = find_line_end(input, '\r', "Protocol error: too big mbulk count string", end);
    if (found != step::done) return found;
    const auto number = parse_integer(input.substr(position_ + 1, end - position_ - 1));
    if (!number || *number > std::numeric_limits<int>::max()) return fail("Protocol error: invalid multibulk length");
    count = *number < 0 ? 0 : static_cast<std::size_t>(*number);
    position_ = end + 2;
  }
  if (count > limits_.max_arguments) return fail("Protocol error: invalid multibulk length");
  if (count == 0) {
    in_request_ = false;
    return step::ignored;
  }
  missing_ = count;
  scanned_ = position_;
  return parse_bulks(input);
}

request_parser::step request_parser::parse_bulks(std::string_view input) {
  while (missing_ != 0) {
    if (bulk_bytes_ == unknown) {
      if (const step header = parse_bulk_header(input); header != step::done) return header;
    }
    const std::size_t end = position_ + bulk_bytes_ + 2;
    if (end > input.size()) return wait_for(end);
    arguments_.emplace_back(input.data() + position_, bulk_bytes_);
    position_ = end;
    scanned_ = end;
    bulk_bytes_ = unknown;
    --missing_;
  }
  return step::done;
}

request_parser::step request_parser::parse_bulk_header(std::string_view input) {
  if (position_ >= input.size()) return wait_for(position_ + 1);
  std::size_t bytes = 0;
  std::size_t read = 0;
  if (input[position_] == '$') read = read_short_number(input.substr(position_ + 1), bytes);
  if (read == 0) {
    std::size_t end = 0;
    const step found = find_line_end(input, '\r', "Protocol error: too big bulk count string", end);
    if (found != step::done) return found;
    if (input[position_] != '$') {
      std::string message = "Protocol error: expected '$', got ' '";
      message[message.size() - 2] = input[position_];
      return fail(message);
    }
    const auto number = parse_integer(input.substr(position_ + 1, end - position_ - 1));
    if (!number || *number < 0) return fail("Protocol error: invalid bulk length");
    bytes = static_cast<std::size_t>(*number);
    read = end + 1 - position_;
  }
  if (bytes > limits_.max_bulk_bytes) return fail("Protocol error: invalid bulk length");
  position_ += 1 + read;
  if (position_ - begin_ + bytes + 2 > limits_.max_request_bytes) return fail("Protocol error: too big request");
  bulk_bytes_ = bytes;
  return step::done;
}

// Finds the terminator of the line at position_. After a '\r', one more byte must be there.
request_parser::step request_parser::find_line_end(std::string_view input, char terminator, std::string_view too_big,
                                                   std::size_t& end) {
  const std::size_t from = std::max(scanned_, position_);
  const std::size_t until = std::min(input.size(), position_ + limits_.max_line_bytes + 1);
  const char* data = input.data();
  const void* hit = until > from ? std::memchr(data + from, terminator, until - from) : nullptr;
  if (hit == nullptr) {
    if (until != input.size() || until - position_ > limits_.max_line_bytes) return fail(too_big);
    scanned_ = until;
    return wait_for(until + 1);
  }
  end = static_cast<std::size_t>(static_cast<const char*>(hit) - data);
  scanned_ = end;
  if (terminator == '\r' && end + 2 > input.size()) return wait_for(end + 2);
  return step::done;
}

request_parser::step request_parser::wait_for(std::size_t bytes) noexcept {
  bytes_needed_ = bytes;
  return step::more;
}

request_parser::step request_parser::fail(std::string_view message) {
  error_ = message;
  return step::failed;
}

void request_parser::reset() noexcept {
  arguments_.clear();
  begin_ = position_ = scanned_ = missing_ = 0;
  bulk_bytes_ = unknown;
  bytes_needed_ = 1;
  in_request_ = failed_ = false;
  error_.clear();
}

}  // namespace resp
