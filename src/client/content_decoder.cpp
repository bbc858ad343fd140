// src/client/content_decoder.cpp: the codings of this build.
#include "content_decoder.hpp"

#include <gyre/http/field.hpp>

namespace gyre::http {

std::string_view known_codings() noexcept {
  constexpr std::string_view all =
      ""
#ifdef GYRE_WITH_ZLIB
      ", gzip, deflate"
#endif
#ifdef GYRE_WITH_BROTLI_DECODER
      ", br"
#endif
#ifdef GYRE_WITH_ZSTD
      ", zstd"
#endif
      ;
  return all.empty() ? all : all.substr(2);
}

std::unique_ptr<content_decoder> make_decoder([[maybe_unused]] std::string_view coding) {
#ifdef GYRE_WITH_ZLIB
  if (equal_ignoring_case(coding, "gzip") || equal_ignoring_case(coding, "x-gzip")) return make_gzip_decoder();
  if (equal_ignoring_case(coding, "deflate")) return make_deflate_decoder();
#endif
#ifdef GYRE_WITH_BROTLI_DECODER
  if (equal_ignoring_case(coding, "br")) return make_brotli_decoder();
#endif
#ifdef GYRE_WITH_ZSTD
  if (equal_ignoring_case(coding, "zstd")) return make_zstd_decoder();
#endif
  return nullptr;
}

}  // namespace gyre::http
