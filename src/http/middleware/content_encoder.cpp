// src/http/middleware/content_encoder.cpp: the codings of this build.
#include "content_encoder.hpp"

#include <array>
#include <iterator>
#include <stdexcept>

namespace gyre::http {
namespace {

struct coding {
  std::string_view name;
  std::unique_ptr<content_encoder> (*make)(const encoder_options& how);
};

// In order of preference. The empty last entry keeps the array valid when no coding is built in.
constexpr coding codings[] = {
#ifdef GYRE_WITH_ZSTD
    {"zstd", &make_zstd_encoder},
#endif
#ifdef GYRE_WITH_BROTLI
    {"br", &make_brotli_encoder},
#endif
#ifdef GYRE_WITH_ZLIB
    {"gzip", &make_gzip_encoder},
#endif
    {},
};
constexpr std::size_t count = std::size(codings) - 1;

constexpr auto names = [] {
  std::array<std::string_view, std::size(codings)> all{};
  for (std::size_t i = 0; i < count; ++i) all[i] = codings[i].name;
  return all;
}();

}  // namespace

std::span<const std::string_view> built_in_codings() noexcept { return std::span(names).first(count); }

std::unique_ptr<content_encoder> make_encoder(std::string_view coding, const encoder_options& how) {
  for (const auto& each : codings)
    if (each.make != nullptr && each.name == coding) return each.make(how);
  throw std::invalid_argument("compress: no coding \"" + std::string(coding) + "\" in this build");
}

}  // namespace gyre::http
