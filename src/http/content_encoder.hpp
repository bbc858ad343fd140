// src/http/content_encoder.hpp: one content coding at work. RFC 9110 §8.4.1.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gyre::http {

enum class encode_until : std::uint8_t {
  more,     // what the encoder likes to give already
  flushed,  // everything so far can be read
  end,      // nothing follows
};

/// Thread: any, one at a time.
class content_encoder {
 public:
  virtual ~content_encoder() = default;
  /// Appends to `out`. Errors: std::bad_alloc.
  virtual void encode(std::string_view in, encode_until until, std::string& out) = 0;
};

struct encoder_options {
  int gzip_level;
  int brotli_quality;
  int zstd_level;
  std::optional<std::uint64_t> size =
      {};  // of all that comes; nothing: a stream, which has to keep its memory for long
};

/// The codings that this build has, the preferred one first.
std::span<const std::string_view> built_in_codings() noexcept;
/// `coding` is one of those.
std::unique_ptr<content_encoder> make_encoder(std::string_view coding, const encoder_options& how);

std::unique_ptr<content_encoder> make_gzip_encoder(const encoder_options& how);
std::unique_ptr<content_encoder> make_brotli_encoder(const encoder_options& how);
std::unique_ptr<content_encoder> make_zstd_encoder(const encoder_options& how);

}  // namespace gyre::http
