// gyre/http/compress.hpp: compresses responses for clients that accept it. RFC 9110 §8.4, §12.5.3.
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
  /// In order of preference, for clients that like several equally. Codings that this build does not have are left out.
  std::vector<std::string> codings = {"zstd", "br", "gzip"};
  std::size_t min_size = 1024;            ///< bytes; a smaller body does not shrink much
  std::size_t on_thread_from = 64 << 10;  ///< bytes; from this size on a thread does it, so that nobody waits
  int gzip_level = 6;                     ///< 1 to 9
  int brotli_quality = 4;                 ///< 0 to 11
  int zstd_level = 3;                     ///< 1 to 19, the highest whose window every client must accept
};

/// The codings that this build has, of "zstd", "br" and "gzip". They depend on the libraries found at build time.
[[nodiscard]] GYRE_API std::span<const std::string_view> available_codings() noexcept;

/// Compresses the answers of the handlers inside it, if the client accepts one of the codings, the type
/// is_compressible, and the size is large enough or not known. Bodies in memory are compressed as a whole. Files and
/// bodies that are made piece by piece are compressed while they are sent. Written data is sent when the producer waits
/// for something else, so events arrive when they happen. Such a stream needs up to 2 MiB of memory.
///
/// Does not change answers with a Content-Encoding ("identity" switches compression off), parts (206), Cache-Control:
/// no-transform, and answers with a digest. Adds "Vary: Accept-Encoding", to parts and to 304 as well. A strong ETag
/// becomes weak, so If-Match with it does not succeed. Removes Accept-Ranges.
///
/// Security: the length of a compressed page reveals whether two parts of it are alike. If a page contains a secret (a
/// token against forged requests) and repeats a part of the request, an attacker can learn the secret, even through TLS
/// (BREACH). Switch compression off for such pages, or mask their secrets anew each time.
/// Cancel: a thread that compresses notices it within 64 KiB of a body in memory, or 256 KiB of a streamed piece. The
/// request waits for that. Errors: std::invalid_argument for unknown codings.
[[nodiscard]] GYRE_API middleware compress(compress_options options = {});

}  // namespace gyre::http
