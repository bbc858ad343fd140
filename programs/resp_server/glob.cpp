// programs/resp_server/glob.cpp: the patterns of KEYS and CONFIG GET.
#include "programs/resp_server/glob.hpp"

#include <bitset>
#include <utility>

namespace resp {
namespace {

constexpr unsigned char folded(char c, letter_case letters) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  const bool upper = byte >= 'A' && byte <= 'Z';
  return letters == letter_case::ignored && upper ? static_cast<unsigned char>(byte + 32) : byte;
}

using byte_class = std::bitset<256>;

// Reads the class that begins after '[', at pattern[at]. Returns the position after it. A class without ']' ends with
// the pattern. When case is ignored, characters are compared in lower case.
std::size_t read_class(std::string_view pattern, std::size_t at, letter_case letters, byte_class& accepted) {
  const bool negated = at < pattern.size() && pattern[at] == '^';
  if (negated) ++at;
  accepted.reset();
  for (; at < pattern.size() && pattern[at] != ']'; ++at) {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) {
      accepted.set(folded(pattern[++at], letters));
    } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
      unsigned low = folded(pattern[at], letters);
      unsigned high = folded(pattern[at + 2], letters);
      if (low > high) std::swap(low, high);
      for (; low <= high; ++low) accepted.set(low);
      at += 2;
    } else {
      accepted.set(folded(pattern[at], letters));
    }
  }
  if (negated) accepted.flip();
  return at < pattern.size() ? at + 1 : at;
}

void add(std::vector<std::uint64_t>& set, std::size_t position) noexcept {
  set[position / 64] |= std::uint64_t{1} << (position % 64);
}

}  // namespace

glob_pattern::glob_pattern(std::string_view pattern, letter_case letters) {
  std::vector<std::size_t> elements;  // their positions
  std::vector<std::size_t> stars;     // the number of elements before each
  byte_class accepted;
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] == '*') {
      stars.push_back(elements.size());
      ++at;
      continue;
    }
    elements.push_back(at);
    if (pattern[at] == '[')
      at = read_class(pattern, at + 1, letters, accepted);
    else
      at += pattern[at] == '\\' && at + 1 < pattern.size() ? 2 : 1;
  }
  elements_ = elements.size();
  loops_.resize(elements_ / 64 + 1);
  for (const std::size_t position : stars) add(loops_, position);
  passes_.resize(256 * words());
  anything_.resize(words());
  for (std::size_t i = 0; i < elements_; ++i) compile(pattern, elements[i], i, letters);
  for (std::size_t i = 0; i < passes_.size(); ++i) passes_[i] |= anything_[i % words()];
}

// Only classes visit every byte: compiling the longest patterns takes 0.2 ms or less.
void glob_pattern::compile(std::string_view pattern, std::size_t at, std::size_t position, letter_case letters) {
  const auto accept = [&](unsigned byte) {
    passes_[byte * words() + position / 64] |= std::uint64_t{1} << (position % 64);
  };
  if (pattern[at] == '?') return add(anything_, position);
  if (pattern[at] == '[') {
    byte_class accepted;
    read_class(pattern, at + 1, letters, accepted);
    for (unsigned byte = 0; byte < 256; ++byte)
      if (accepted.test(folded(static_cast<char>(byte), letters))) accept(byte);
    return;
  }
  if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
  const unsigned byte = folded(pattern[at], letters);
  accept(byte);
  if (letters == letter_case::ignored && byte >= 'a' && byte <= 'z') accept(byte - 32);
}

bool glob_pattern::has(const std::uint64_t* set, std::size_t position) const noexcept {
  return (set[position / 64] >> (position % 64) & 1) != 0;
}

// An element that accepts the byte advances to the next position; a star stays. Returns false when no position is left.
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
