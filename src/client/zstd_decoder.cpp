// src/client/zstd_decoder.cpp: decodes with Zstandard. RFC 8878, and RFC 9659: windows of at most 8 MiB.
#include "content_decoder.hpp"

#include <zstd.h>

#include <new>

namespace gyre::http {
namespace {

class zstd_decoder final : public content_decoder {
 public:
  zstd_decoder() : context_(::ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    constexpr int window_of_8_mib = 23;
    ::ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, window_of_8_mib);
  }
  zstd_decoder(const zstd_decoder&) = delete;
  zstd_decoder& operator=(const zstd_decoder&) = delete;
  ~zstd_decoder() override { ::ZSTD_freeDCtx(context_); }

  step decode(std::string_view& in, std::span<char> out) override {
    if (complete_ && in.empty()) return {};  // or the library would wait for a further frame
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t result = ::ZSTD_decompressStream(context_, &to, &from);
    in.remove_prefix(from.pos);
    if (::ZSTD_isError(result) != 0U) return {.failed = true};
    complete_ = result == 0;
    return {.produced = to.pos};
  }
  [[nodiscard]] bool complete() const noexcept override { return complete_; }

 private:
  ZSTD_DCtx* context_;
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<content_decoder> make_zstd_decoder() { return std::make_unique<zstd_decoder>(); }

}  // namespace gyre::http
