// src/http/middleware/content_encoder.hpp: one content coding at work. RFC 9110 §8.4.1.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gyre::http {

enum class encode_until : std::uint8_t {
  more,     // output as the encoder sees fit
  flushed,  // everything so far can be decoded
  end,      // no more input follows
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
  std::optional<std::uint64_t> size = {};  // total input size; nothing for a stream, which keeps its memory for long
};

/// The codings of this build, in order of preference.
std::span<const std::string_view> built_in_codings() noexcept;
/// `coding` must be one of built_in_codings().
std::unique_ptr<content_encoder> make_encoder(std::string_view coding, const encoder_options& how);

std::unique_ptr<content_encoder> make_gzip_encoder(const encoder_options& how);
std::unique_ptr<content_encoder> make_brotli_encoder(const encoder_options& how);
std::unique_ptr<content_encoder> make_zstd_encoder(const encoder_options& how);

}  // namespace gyre::http
