// src/http/http1/head_parser.cpp: parses a head line by line; each line is checked once it is complete.
#include <gyre/http/field_line.hpp>
#include <gyre/http/head_parser.hpp>

#include "semantics/characters.hpp"
#include "usual_lines.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace gyre::http {

void head_parser::refuse_limits() {
  throw std::invalid_argument("head_limits: target, fields or size is 0: every message would be refused");
}

parse_state head_parser::fail(parse_error error) noexcept {
  error_ = error;
  return parse_state::failed;
}

void head_parser::reset() noexcept {
  error_ = parse_error::none;
  has_start_line_ = has_folded_lines_ = false;
  status_ = 0;
  at_ = searched_ = 0;
  method_ = target_ = {};
  fields_.clear();
}

// The bytes may have moved: adjusts the views into them.
void head_parser::rebase(std::string_view bytes) noexcept {
  const char* const before = base_;
  base_ = bytes.data();
  if (before == base_ || !has_start_line_) return;
  const auto move = [&](std::string_view& part) {
    if (part.data() != nullptr) part = {base_ + (part.data() - before), part.size()};
  };
  move(method_);
  move(target_);
  for (field& each : fields_) {
    move(each.name);
    move(each.value);
  }
}

// Returns true when the head is complete. Otherwise the line at `at_` is left to the general
// parser, as is a line over a limit.
bool head_parser::take_usual_lines(std::string_view bytes) {
  const char* const end = bytes.data() + std::min(bytes.size(), limits_.size);
  const char* at = bytes.data() + at_;
  if (!has_start_line_) {
    std::string_view method;
    std::string_view target;
    const char* const next = take_usual_request_line(at, end, method, target);
    if (next == nullptr || target.size() > limits_.target) return false;
    method_ = method;
    target_ = target;
    minor_version_ = 1;
    has_start_line_ = true;
    at = next;
  }
  bool complete = false;
  while (!complete) {
    if (at != end && *at == '\r') {
      if (!ends_line(at, end)) break;
      complete = true;
      at += 2;
    } else {
      field found;
      const char* const next = fields_.size() < limits_.fields ? take_usual_field(at, end, found) : nullptr;
      if (next == nullptr) break;
      fields_.push_back(found);
      at = next;
    }
  }
  at_ = searched_ = static_cast<std::size_t>(at - bytes.data());
  return complete;
}

// The error for a request line that is too long.
parse_error head_parser::why_too_long(std::string_view line) noexcept {
  const std::string_view method = line.substr(0, max_method_size + 1);
  const bool never_ends = std::all_of(method.begin(), method.end(), is_token_character);
  return never_ends ? parse_error::method_too_long : parse_error::target_too_long;
}

parse_state head_parser::parse(std::string_view bytes) {
  if (error_ != parse_error::none) return parse_state::failed;
  rebase(bytes);
  if (searched_ == at_ && begins_usual_line() && take_usual_lines(bytes)) return parse_state::complete;
  return parse_lines(bytes);
}

// After each line, the next ones may be usual again.
parse_state head_parser::parse_lines(std::string_view bytes) {
  constexpr std::size_t besides_target = 256;  // length of a request line without its target
  static_assert(besides_target > max_method_size);
  for (bool first = true;; first = false) {
    if (!first && begins_usual_line() && take_usual_lines(bytes)) return parse_state::complete;
    const char* const from = bytes.data() + searched_;
    const auto* const feed = static_cast<const char*>(std::memchr(from, '\n', bytes.size() - searched_));
    const std::size_t end = feed == nullptr ? bytes.size() : static_cast<std::size_t>(feed - bytes.data()) + 1;
    if (!has_start_line_ && kind_ == kind::request && end - at_ > besides_target &&
        end - at_ - besides_target > limits_.target)
      return fail(why_too_long(bytes.substr(at_, end - at_)));
    if (end > limits_.size) return fail(parse_error::head_too_large);
    if (feed == nullptr) {
      searched_ = bytes.size();
      return parse_state::incomplete;
    }
    const bool has_return = end - at_ >= 2 && feed[-1] == '\r';
    if (!has_return && !is_lenient()) return fail(parse_error::bare_line_feed);
    const std::string_view line = bytes.substr(at_, end - at_ - (has_return ? 2 : 1));
    at_ = searched_ = end;
    if (!has_start_line_) {
      if (line.empty() && kind_ == kind::request) continue;  // RFC 9112 §2.2: empty lines before a request
      if (!parse_start_line(line)) return parse_state::failed;
      has_start_line_ = true;
      continue;
    }
    if (line.empty()) return parse_state::complete;
    if (!parse_field_line(line)) return parse_state::failed;
  }
}

bool head_parser::parse_start_line(std::string_view line) noexcept {
  return kind_ == kind::request ? parse_request_line(line) : parse_status_line(line);
}

// method SP request-target SP HTTP-version, with exactly one space each: RFC 9112 §3.
bool head_parser::parse_request_line(std::string_view line) noexcept {
  const auto refuse = [this](parse_error error) { return fail(error) != parse_state::failed; };
  std::size_t end = 0;
  while (end < line.size() && is_token_character(line[end])) ++end;
  if (end == 0 || end == line.size() || line[end] != ' ') return refuse(parse_error::bad_method);
  if (end > max_method_size) return refuse(parse_error::method_too_long);
  method_ = line.substr(0, end);
  line.remove_prefix(end + 1);
  constexpr std::string_view usual = " HTTP/1.1";
  if (line.size() > usual.size() && line.ends_with(usual)) {
    minor_version_ = 1;
    target_ = line.substr(0, line.size() - usual.size());
    if (target_.size() > limits_.target) return refuse(parse_error::target_too_long);
    return is_target(target_) || refuse(parse_error::bad_target);
  }
  const std::size_t last = line.rfind(' ');
  if (last == std::string_view::npos) return refuse(parse_error::bad_version);
  target_ = line.substr(0, last);
  if (target_.size() > limits_.target) return refuse(parse_error::target_too_long);
  if (target_.empty() || !is_target(target_)) return refuse(parse_error::bad_target);
  return parse_version(line.substr(last + 1));
}

bool head_parser::parse_version(std::string_view text) noexcept {
  constexpr std::string_view name = "HTTP/";
  const bool well_formed = text.size() == name.size() + 3 && text.starts_with(name) && is_digit(text[5]) &&
                           text[6] == '.' && is_digit(text[7]);
  if (!well_formed) return fail(parse_error::bad_version) != parse_state::failed;
  if (text[5] != '1') return fail(parse_error::unsupported_version) != parse_state::failed;
  minor_version_ = text[7] == '0' ? 0 : 1;
  return true;
}

// HTTP-version SP 3DIGIT SP [ reason-phrase ]: RFC 9112 §4. Many servers omit the
// second space when there is no reason.
bool head_parser::parse_status_line(std::string_view line) noexcept {
  const auto refuse = [this](parse_error error) { return fail(error) != parse_state::failed; };
  constexpr std::size_t version = 8;
  if (!parse_version(line.substr(0, version))) return false;
  line.remove_prefix(version);
  if (line.size() < 4 || line[0] != ' ') return refuse(parse_error::bad_status_line);
  status_ = 0;
  for (std::size_t i = 1; i < 4; ++i) {
    if (line[i] < '0' || line[i] > '9') return refuse(parse_error::bad_status_line);
    status_ = status_ * 10 + (line[i] - '0');
  }
  line.remove_prefix(4);
  if (status_ < 100 || (!line.empty() && line[0] != ' ')) return refuse(parse_error::bad_status_line);
  target_ = line.empty() ? line : line.substr(1);
  return is_value(target_) || refuse(parse_error::bad_status_line);
}

// White space between the start line and the first field continues nothing: RFC 9112 §2.2.
bool head_parser::continue_value(std::string_view line) noexcept {
  const std::string_view more = trim(line);
  if (fields_.empty()) return fail(parse_error::folded_line) != parse_state::failed;
  if (!is_value(more)) return fail(parse_error::bad_field_value) != parse_state::failed;
  has_folded_lines_ = true;
  std::string_view& value = fields_.back().value;
  if (value.empty())
    value = more;
  else if (!more.empty())
    value = {value.data(), more.data() + more.size()};
  return true;
}

bool head_parser::parse_field_line(std::string_view line) {
  if (is_lenient() && is_space(line.front())) return continue_value(line);
  if (fields_.size() == limits_.fields) return fail(parse_error::too_many_fields) != parse_state::failed;
  field found;
  if (const parse_error error = http::parse_field_line(line, found); error != parse_error::none)
    return fail(error) != parse_state::failed;
  fields_.push_back(found);
  return true;
}

}  // namespace gyre::http
