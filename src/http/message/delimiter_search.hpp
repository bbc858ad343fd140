// src/http/message/delimiter_search.hpp: finds the delimiter of a multipart body, sixteen positions at a time.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gyre::http {

// The only CR of the delimiter is its first byte. So candidates cannot overlap, and no byte is compared twice with the
// delimiter, whatever a client sends.

/// Returns the next position, starting at `from`, that holds a CR. As long as sixteen positions can be read, the last
/// byte of the delimiter is checked too.
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

/// Returns where the delimiter begins, or where a beginning of it is cut off by the end of `in`. Returns the
/// size of `in` when there is neither.
inline std::size_t find_delimiter(std::string_view in, std::string_view delimiter) noexcept {
  for (std::size_t at = 0;; ++at) {
    at = skip_to_candidate(in, at, delimiter);
    if (at == in.size() || delimiter.starts_with(in.substr(at, delimiter.size()))) return at;
  }
}

}  // namespace gyre::http
