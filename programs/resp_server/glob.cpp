// programs/resp_server/glob.cpp: the patterns of KEYS and CONFIG GET.
#include "programs/resp_server/glob.hpp"

#include <utility>

namespace resp {
namespace {

constexpr unsigned char folded(char c, letter_case letters) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  const bool upper = byte >= 'A' && byte <= 'Z';
  return letters == letter_case::ignored && upper ? static_cast<unsigned char>(byte + 32) : byte;
}

struct match {
  bool matched;
  std::size_t next;  // where the pattern goes on
};

// The class that begins behind '[' at pattern[at]. One that is never closed ends with the pattern.
match match_class(std::string_view pattern, std::size_t at, unsigned char byte, letter_case letters) noexcept {
  const bool negated = at < pattern.size() && pattern[at] == '^';
  if (negated) ++at;
  bool found = false;
  for (; at < pattern.size() && pattern[at] != ']'; ++at) {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) {
      found |= folded(pattern[++at], letters) == byte;
    } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
      unsigned char low = folded(pattern[at], letters);
      unsigned char high = folded(pattern[at + 2], letters);
      if (low > high) std::swap(low, high);
      found |= low <= byte && byte <= high;
      at += 2;
    } else {
      found |= folded(pattern[at], letters) == byte;
    }
  }
  return {found != negated, at < pattern.size() ? at + 1 : at};
}

// One character against the element of the pattern at `at`, which is not a '*'.
match match_one(std::string_view pattern, std::size_t at, char c, letter_case letters) noexcept {
  const unsigned char byte = folded(c, letters);
  if (pattern[at] == '?') return {true, at + 1};
  if (pattern[at] == '[') return match_class(pattern, at + 1, byte, letters);
  if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
  return {folded(pattern[at], letters) == byte, at + 1};
}

void add(std::vector<std::uint64_t>& set, std::size_t position) noexcept {
  set[position / 64] |= std::uint64_t{1} << (position % 64);
}

}  // namespace

glob_pattern::glob_pattern(std::string_view pattern, letter_case letters) {
  std::vector<std::size_t> elements;  // where they begin
  std::vector<std::size_t> stars;     // how many elements are before each
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] == '*') {
      stars.push_back(elements.size());
      ++at;
    } else {
      elements.push_back(at);
      at = match_one(pattern, at, '\0', letters).next;
    }
  }
  elements_ = elements.size();
  loops_.resize(elements_ / 64 + 1);
  for (const std::size_t position : stars) add(loops_, position);
  passes_.resize(256 * words());
  for (std::size_t i = 0; i < elements_; ++i)
    for (std::size_t byte = 0; byte < 256; ++byte)
      if (match_one(pattern, elements[i], static_cast<char>(byte), letters).matched)
        passes_[byte * words() + i / 64] |= std::uint64_t{1} << (i % 64);
}

bool glob_pattern::has(const std::uint64_t* set, std::size_t position) const noexcept {
  return (set[position / 64] >> (position % 64) & 1) != 0;
}

// An element that accepts the byte leads to the position behind it; a star stays where it is. False: no position is left.
bool glob_pattern::step(std::uint64_t* reached, char c) const noexcept {
  const std::uint64_t* const passes = passes_.data() + static_cast<unsigned char>(c) * words();
  std::uint64_t carried = 0;
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < words(); ++i) {
    const std::uint64_t passed = reached[i] & passes[i];
    reached[i] = passed << 1 | carried | (reached[i] & loops_[i]);
    carried = passed >> 63;
    any |= reached[i];
  }
  return any != 0;
}

glob_pattern::verdict glob_pattern::read(progress& state, std::string_view text, std::size_t budget) const noexcept {
  std::uint64_t* const reached = state.reached_.data();
  const std::size_t until = budget < text.size() - state.read_ ? state.read_ + budget : text.size();
  const bool ends_with_star = has(loops_.data(), elements_);
  for (;; ++state.read_) {
    if (ends_with_star && has(reached, elements_)) return verdict::matches;
    if (state.read_ == until) break;
    if (!step(reached, text[state.read_])) return verdict::differs;
  }
  if (until < text.size()) return verdict::unknown;
  return has(reached, elements_) ? verdict::matches : verdict::differs;
}

bool glob_pattern::matches(std::string_view text) const noexcept {
  progress state;
  return read(state, text, text.size()) == verdict::matches;
}

}  // namespace resp
