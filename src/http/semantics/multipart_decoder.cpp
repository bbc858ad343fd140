// src/http/semantics/multipart_decoder.cpp: delimiters, the fields of parts, and the data in between.
#include <gyre/http/field_line.hpp>
#include <gyre/http/multipart_decoder.hpp>

#include "characters.hpp"
#include "multipart_part.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gyre::http {
namespace {

constexpr std::size_t line_end_size = 2;
constexpr std::size_t max_padding = 256;  // white space after a boundary

// The only CR of the delimiter is its first byte. So candidates cannot overlap, and no byte is compared twice with the
// delimiter, whatever a client sends.

// Returns the next position, starting at `from`, that holds a CR. As long as sixteen positions can be read, the last
// byte of the delimiter is checked too.
std::size_t skip_to_candidate(std::string_view in, std::size_t from,
                              [[maybe_unused]] std::string_view delimiter) noexcept {
#if defined(__SSE2__)
  const std::size_t distance = delimiter.size() - 1;
  const __m128i first = _mm_set1_epi8('\r');
  const __m128i end = _mm_set1_epi8(delimiter.back());
  for (; from + distance + 16 <= in.size(); from += 16) {
    const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in.data() + from));
    const __m128i there = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in.data() + from + distance));
    const int both = _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(here, first), _mm_cmpeq_epi8(there, end)));
    if (both != 0) return from + static_cast<std::size_t>(__builtin_ctz(static_cast<unsigned>(both)));
  }
#endif
  const void* const found = from < in.size() ? std::memchr(in.data() + from, '\r', in.size() - from) : nullptr;
  return found == nullptr ? in.size() : static_cast<std::size_t>(static_cast<const char*>(found) - in.data());
}

// Returns where the delimiter begins, or where a beginning of it is cut off by the end of `in`. Returns the
// size of `in` when there is neither.
std::size_t find_delimiter(std::string_view in, std::string_view delimiter) noexcept {
  for (std::size_t at = 0;; ++at) {
    at = skip_to_candidate(in, at, delimiter);
    if (at == in.size() || delimiter.starts_with(in.substr(at, delimiter.size()))) return at;
  }
}

}  // namespace

multipart_decoder::multipart_decoder(std::string_view boundary, const multipart_limits& limits)
    : delimiter_("\r\n--"), limits_(limits) {
  if (limits.header == 0) throw std::invalid_argument("multipart_limits: header is 0: every part would be refused");
  if (limits.parts == 0) throw std::invalid_argument("multipart_limits: parts is 0: every form would be refused");
  delimiter_ += boundary;
  reset();
}

void multipart_decoder::reset() noexcept {
  const std::string_view boundary = std::string_view(delimiter_).substr(line_end_size + 2);
  error_ = is_boundary(boundary) ? multipart_error::none : multipart_error::bad_boundary;
  place_ = place::preamble;
  ends_part_ = false;
  expect_delimiter_or_data();  // the first delimiter may be at the very beginning
  preamble_ = 0;
  parts_ = 0;
  partial_.clear();
}

// The line end just consumed is not data, but a delimiter may begin with it.
void multipart_decoder::expect_delimiter_or_data() noexcept { matched_ = not_data_ = line_end_size; }

// Returns false when the line is not complete yet or is invalid. A line must end with CR LF.
bool multipart_decoder::take_line(std::string_view& input, std::size_t limit, std::string_view& line) {
  const bool in_header = place_ == place::header;
  const std::size_t feed = input.find('\n');
  const std::size_t size = feed == std::string_view::npos ? input.size() : feed + 1;
  if (partial_.size() + size > limit)
    return fail(in_header ? multipart_error::header_too_large : multipart_error::bad_delimiter);
  if (feed == std::string_view::npos || !partial_.empty()) {
    partial_.append(input.substr(0, size));
    line = partial_;
  } else {
    line = input.substr(0, size);
  }
  input.remove_prefix(size);
  if (feed == std::string_view::npos) return false;
  if (line.size() < line_end_size || line[line.size() - 2] != '\r')
    return fail(in_header ? multipart_error::bad_header : multipart_error::bad_delimiter);
  line.remove_suffix(line_end_size);
  return true;
}

// Continues a delimiter that began in an earlier input. Returns false when it was none; `content` is
// then the matched part that is data.
bool multipart_decoder::go_on_matching(std::string_view& input, std::string_view& content) noexcept {
  const std::string_view expected = std::string_view(delimiter_).substr(matched_);
  const auto differs = std::mismatch(expected.begin(), expected.end(), input.begin(), input.end());
  const auto same = static_cast<std::size_t>(differs.first - expected.begin());
  input.remove_prefix(same);
  matched_ += same;
  if (same == expected.size() || input.empty()) return true;
  content = std::string_view(delimiter_).substr(not_data_, matched_ - not_data_);
  matched_ = not_data_ = 0;
  return false;
}

// Returns the data before the next delimiter. Empty when the delimiter or the end of the input comes first.
std::string_view multipart_decoder::take_content(std::string_view& input) noexcept {
  std::string_view content;
  if (matched_ > 0 && (go_on_matching(input, content) || !content.empty())) return content;
  const std::size_t begin = find_delimiter(input, delimiter_);
  content = input.substr(0, begin);
  input.remove_prefix(begin);
  if (content.empty() && !input.empty()) (void)go_on_matching(input, content);
  return content;
}

// After a boundary: nothing, or "--" after the last part, then optional white space.
bool multipart_decoder::see_delimiter_line(std::string_view line) {
  if (line.starts_with("--") && trim(line.substr(2)).empty()) {
    place_ = place::end;
    return true;
  }
  if (!trim(line).empty()) return fail(multipart_error::bad_delimiter);
  if (parts_ == limits_.parts) return fail(multipart_error::too_many_parts);
  ++parts_;
  header_ = 0;
  has_disposition_ = has_type_ = false;
  place_ = place::header;
  return true;
}

bool multipart_decoder::see_field(std::string_view line) {
  // A boundary may contain a colon, so a misplaced delimiter could look like a field.
  if (line.starts_with(std::string_view(delimiter_).substr(line_end_size))) return fail(multipart_error::bad_header);
  field found;
  if (parse_field_line(line, found) != parse_error::none) return fail(multipart_error::bad_header);
  if (equal_ignoring_case(found.name, "content-disposition")) {
    if (has_disposition_ || !parse_disposition(found.value, part_)) return fail(multipart_error::bad_disposition);
    has_disposition_ = true;
  } else if (equal_ignoring_case(found.name, "content-type")) {
    if (has_type_) return fail(multipart_error::bad_content_type);
    has_type_ = true;
    part_.content_type = found.value;
  } else if (equal_ignoring_case(found.name, "content-transfer-encoding")) {
    return leaves_data_alone(found.value) || fail(multipart_error::unknown_encoding);
  }
  return true;
}

bool multipart_decoder::see_header_line(std::string_view line) {
  header_ += line.size() + line_end_size;
  if (!line.empty()) return see_field(line);
  if (!has_disposition_) return fail(multipart_error::bad_disposition);
  expect_delimiter_or_data();
  place_ = place::data;
  return true;
}

bool multipart_decoder::skip_preamble(std::string_view& input) noexcept {
  do {
    preamble_ += take_content(input).size();
    if (preamble_ > limits_.preamble) return fail(multipart_error::preamble_too_large);
  } while (matched_ == 0 && !input.empty());
  if (matched_ < delimiter_.size()) return false;
  place_ = place::delimiter_line;
  return true;
}

multipart_decoder::state multipart_decoder::advance(std::string_view& input, std::string_view& content) {
  const auto stopped = [this] { return error_ == multipart_error::none ? state::more : state::failed; };
  std::string_view line;
  for (;;) {
    switch (place_) {
      case place::preamble:
        if (!skip_preamble(input)) return stopped();
        continue;
      case place::delimiter_line:
        if (!take_line(input, max_padding, line) || !see_delimiter_line(line)) return stopped();
        partial_.clear();
        if (std::exchange(ends_part_, false)) return state::part_end;
        continue;
      case place::header:
        if (header_ == 0) part_ = {};  // only now: the previous part is valid until here
        if (!take_line(input, limits_.header - header_, line) || !see_header_line(line)) return stopped();
        partial_.clear();
        if (place_ == place::data) return state::part_begin;
        continue;
      case place::data:
        content = take_content(input);
        if (!content.empty()) return state::data;
        if (matched_ < delimiter_.size()) return state::more;
        place_ = place::delimiter_line;
        ends_part_ = true;
        continue;
      case place::end:
        input.remove_prefix(input.size());
        return state::complete;
    }
  }
}

// The body may end within an incomplete line: many clients omit the line end of the last delimiter.
multipart_decoder::state multipart_decoder::finish() noexcept {
  const std::string_view line = partial_;
  if (place_ == place::delimiter_line && line.starts_with("--") && trim(line.substr(2)).empty()) {
    place_ = place::end;
    return std::exchange(ends_part_, false) ? state::part_end : state::complete;
  }
  error_ = multipart_error::missing_end;
  return state::failed;
}

multipart_decoder::step multipart_decoder::next(std::string_view input, bool last) {
  const std::size_t all = input.size();
  std::string_view content;
  state what = error_ == multipart_error::none ? advance(input, content) : state::failed;
  if (what == state::more && last) what = finish();
  return {what, all - input.size(), content};
}

}  // namespace gyre::http
