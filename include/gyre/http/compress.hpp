// gyre/http/compress.hpp: compresses responses for clients that can read it. RFC 9110 §8.4, §12.5.3.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/middleware.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::http {

struct compress_options {
  /// The preferred one first, for clients that like several equally. Those that this build does not have are left out.
  std::vector<std::string> codings = {"zstd", "br", "gzip"};
  std::size_t least = 1024;               ///< bytes: what is smaller does not become much smaller
  std::size_t on_thread_from = 64 << 10;  ///< bytes that are compressed on a thread, so that nobody waits for it
  int gzip_level = 6;
  int brotli_quality = 4;
  int zstd_level = 3;
};

/// The codings that this build has, of "zstd", "br" and "gzip": it depends on the libraries that were there.
[[nodiscard]] GYRE_API std::span<const std::string_view> available_codings() noexcept;

/// Compresses what the handlers behind it answer, if the client takes one of the codings, the type is_compressible, and the
/// size is worth it or not known. Bodies in memory are compressed as a whole; those made piece by piece, and files, on
/// their way: what has been written is sent when the producer waits for something else, so that events arrive when they
/// happen. Such a stream needs up to 2 MiB of memory.
///
/// Left as they are: what has a Content-Encoding ("identity" switches it off), parts (206), Cache-Control: no-transform,
/// and what has a digest. "Vary: Accept-Encoding" is added, to parts and to 304 as well, a strong ETag becomes weak (so
/// If-Match with it does not succeed), and Accept-Ranges is removed.
///
/// Security: the length of a compressed page tells whether two parts of it are alike. A page with a secret (a token against
/// forged requests) that also repeats something of the request can be made to tell the secret, also through TLS (BREACH).
/// Switch it off for such pages, or give them secrets that are masked anew each time.
/// Errors: std::invalid_argument for codings that there are not.
[[nodiscard]] GYRE_API middleware compress(compress_options options = {});

}  // namespace gyre::http
