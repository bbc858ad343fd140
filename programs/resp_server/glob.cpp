// programs/resp_server/glob.cpp: the patterns of KEYS and CONFIG GET.
#include "programs/resp_server/glob.hpp"

#include <cstddef>
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

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text, letter_case letters) noexcept {
  constexpr auto none = static_cast<std::size_t>(-1);
  std::size_t at = 0;
  std::size_t read = 0;
  std::size_t star = none;     // the pattern behind the last '*'
  std::size_t star_until = 0;  // what that '*' stands for ends here
  while (read < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      star_until = read;
      continue;
    }
    if (at < pattern.size()) {
      if (const match one = match_one(pattern, at, text[read], letters); one.matched) {
        at = one.next;
        ++read;
        continue;
      }
    }
    if (star == none) return false;
    at = star;  // only the last star can help: let it take one more
    read = ++star_until;
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

}  // namespace resp
