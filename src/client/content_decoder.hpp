// src/client/content_decoder.hpp: decompresses the body of a response. RFC 9110 §8.4.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace gyre::http {

/// Decodes one coding, piece by piece.
class content_decoder {
 public:
  content_decoder() = default;
  content_decoder& operator=(content_decoder&&) = delete;
  virtual ~content_decoder() = default;

  struct step {
    std::size_t produced = 0;  // bytes of the output
    bool failed = false;
  };
  /// Removes from `in` what it has used. Without output, and with no input left, it needs more.
  virtual step decode(std::string_view& in, std::span<char> out) = 0;
  /// True between two complete streams, and so at a proper end.
  [[nodiscard]] virtual bool complete() const noexcept = 0;
};

/// The codings of this build, for Accept-Encoding: "gzip, deflate, br, zstd". Empty when there are none.
[[nodiscard]] std::string_view known_codings() noexcept;
/// Null when the coding is unknown.
[[nodiscard]] std::unique_ptr<content_decoder> make_decoder(std::string_view coding);

// Each is linked only where its library was found.
std::unique_ptr<content_decoder> make_gzip_decoder();
std::unique_ptr<content_decoder> make_deflate_decoder();
std::unique_ptr<content_decoder> make_brotli_decoder();
std::unique_ptr<content_decoder> make_zstd_decoder();

}  // namespace gyre::http
