// src/http/delimiter_search.hpp: where the delimiter of a multipart body begins, sixteen places at a time.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gyre::http {

// The delimiter begins with the only CR in it. So nothing that looks like its beginning overlaps with another one, and the
// comparisons together read no byte twice, whatever a client sends.

/// From `from` on, where CR and the last byte of the delimiter stand at its distance and sixteen places can be read.
inline std::size_t skip_to_candidate(std::string_view in, std::size_t from, std::string_view delimiter) noexcept {
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

/// Where the delimiter begins, or as much of it as is there before `in` ends; the size of `in` when it does not.
inline std::size_t find_delimiter(std::string_view in, std::string_view delimiter) noexcept {
  for (std::size_t at = 0;; ++at) {
    at = skip_to_candidate(in, at, delimiter);
    if (at == in.size() || delimiter.starts_with(in.substr(at, delimiter.size()))) return at;
  }
}

}  // namespace gyre::http
