// src/http/http1/chunked_decoder.cpp: chunk sizes, data, line ends and the trailer section.
#include <gyre/http/chunked_decoder.hpp>
#include <gyre/http/field_line.hpp>

#include "semantics/characters.hpp"

#include <algorithm>
#include <stdexcept>

namespace gyre::http {
namespace {

void skip_spaces(std::string_view& text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
}

bool take(std::string_view& text, char expected) noexcept {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

bool take_token(std::string_view& text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && is_token_character(text[size])) ++size;
  text.remove_prefix(size);
  return size > 0;
}

// `text` begins after the opening quotation mark. RFC 9110 §5.6.4: a backslash makes any
// one character part of the string.
bool take_rest_of_string(std::string_view& text) noexcept {
  for (bool escaped = false; !text.empty();) {
    const char c = text.front();
    text.remove_prefix(1);
    if (!is_value_character(c)) return false;
    if (c == '"' && !escaped) return true;
    escaped = c == '\\' && !escaped;
  }
  return false;
}

// *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] ): RFC 9112 §7.1.1. No extension is
// supported here. Their syntax is checked, because a recipient that reads a malformed one differently
// could also see another line end.
bool are_extensions(std::string_view text) noexcept {
  while (!text.empty()) {
    skip_spaces(text);
    if (!take(text, ';')) return false;
    skip_spaces(text);
    if (!take_token(text)) return false;
    std::string_view behind = text;
    skip_spaces(behind);
    if (!take(behind, '=')) continue;
    text = behind;
    skip_spaces(text);
    if (!(take(text, '"') ? take_rest_of_string(text) : take_token(text))) return false;
  }
  return true;
}

}  // namespace

void chunked_decoder::reset() noexcept {
  place_ = place::size_line;
  error_ = parse_error::none;
  left_ = data_ = overhead_ = 0;
  partial_.clear();
  trailer_.clear();
}

// Returns false when the line is not complete yet or is invalid. A line must end with CR LF.
bool chunked_decoder::take_line(std::string_view& input, std::size_t limit, parse_error too_long,
                                std::string_view& line) {
  const std::size_t feed = input.find('\n');
  const std::size_t size = feed == std::string_view::npos ? input.size() : feed + 1;
  if (partial_.size() + size > limit) return fail(too_long);
  if (feed == std::string_view::npos || !partial_.empty()) {
    partial_.append(input.substr(0, size));
    line = partial_;
  } else {
    line = input.substr(0, size);
  }
  input.remove_prefix(size);
  if (feed == std::string_view::npos) return false;
  if (line.size() < 2 || line[line.size() - 2] != '\r') return fail(parse_error::bare_line_feed);
  line.remove_suffix(2);
  return true;
}

bool chunked_decoder::parse_size_line(std::string_view line) noexcept {
  constexpr std::size_t max_digits = 15;  // less than 2^60
  std::size_t digits = 0;
  left_ = 0;
  for (; digits < line.size() && hex_value(line[digits]) >= 0; ++digits) {
    if (digits == max_digits) return fail(parse_error::bad_chunk_size);
    left_ = left_ * 16 + static_cast<std::uint64_t>(hex_value(line[digits]));
  }
  if (digits == 0) return fail(parse_error::bad_chunk_size);
  const std::string_view extensions = line.substr(digits);
  if (extensions.empty()) return true;
  // White space with nothing after it is not an extension: a less strict recipient could see another size.
  if (lenient_ && trim(extensions).empty()) return true;
  if (trim(extensions).empty() || (!is_space(extensions.front()) && extensions.front() != ';'))
    return fail(parse_error::bad_chunk_size);
  return are_extensions(extensions) || fail(parse_error::bad_chunk_extension);
}

// A chunk of one byte has five bytes of framing, and a client may send any number of such chunks.
bool chunked_decoder::count_overhead(std::string_view line) noexcept {
  constexpr std::uint64_t for_each_byte = 16;
  constexpr std::size_t line_ends = 4;
  overhead_ += line.size() + line_ends;
  const bool within = overhead_ <= limits_.overhead || (overhead_ - limits_.overhead) / for_each_byte <= data_;
  return within || fail(parse_error::bad_chunk_extension);
}

void chunked_decoder::refuse_limits() {
  throw std::invalid_argument("chunk_limits: line or trailer is 0: every chunked body would be refused");
}

chunked_decoder::step chunked_decoder::next(std::string_view input) {
  const std::size_t all = input.size();
  const auto give = [&](state what, std::string_view data = {}) { return step{what, all - input.size(), data}; };
  std::string_view line;
  while (error_ == parse_error::none) {
    switch (place_) {
      case place::size_line:
        if (!take_line(input, limits_.line, parse_error::bad_chunk_extension, line)) break;
        if (!parse_size_line(line) || !count_overhead(line)) break;
        partial_.clear();
        place_ = left_ == 0 ? place::trailer : place::data;
        continue;
      case place::data: {
        if (input.empty()) return give(state::more);
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
        const std::string_view data = input.substr(0, size);
        input.remove_prefix(size);
        left_ -= size;
        data_ += size;
        if (left_ == 0) place_ = place::data_end;
        return give(state::data, data);
      }
      case place::data_end:
        while (!input.empty() && partial_.size() < 2) {
          partial_ += input.front();
          input.remove_prefix(1);
        }
        if (!std::string_view("\r\n").starts_with(partial_)) (void)fail(parse_error::bad_chunk_end);
        if (partial_.size() < 2) break;
        partial_.clear();
        place_ = place::size_line;
        continue;
      case place::trailer: {
        if (!take_line(input, limits_.trailer - trailer_.size(), parse_error::trailer_too_large, line)) break;
        if (line.empty()) {
          partial_.clear();
          place_ = place::end;
          continue;
        }
        field found;
        if (const parse_error error = parse_field_line(line, found); error != parse_error::none) {
          (void)fail(error);
          break;
        }
        trailer_.append(line).append("\n");
        partial_.clear();
        continue;
      }
      case place::end:
        return give(state::complete);
    }
    break;
  }
  return give(error_ == parse_error::none ? state::more : state::failed);
}

std::vector<field> chunked_decoder::trailers() const {
  std::vector<field> all;
  std::string_view rest = trailer_;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    field found;
    (void)parse_field_line(rest.substr(0, end), found);
    all.push_back(found);
    rest.remove_prefix(end + 1);
  }
  return all;
}

}  // namespace gyre::http
