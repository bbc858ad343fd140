// src/http/middleware/zstd_encoder.cpp: encodes with zstd. RFC 8878; windows of at most 8 MiB: RFC 9659.
#include "content_encoder.hpp"

#include <zstd.h>

#include <algorithm>
#include <new>

namespace gyre::http {
namespace {

class zstd_encoder final : public content_encoder {
 public:
  explicit zstd_encoder(const encoder_options& how) : context_(::ZSTD_createCCtx()) {
    constexpr int stream_window = 18;  // 256 KiB, kept for as long as the stream lasts
    constexpr int highest_level = 19;  // the highest whose window every client must accept
    if (context_ == nullptr) throw std::bad_alloc();
    set(ZSTD_c_compressionLevel, std::clamp(how.zstd_level, 1, highest_level));
    if (how.size)
      (void)::ZSTD_CCtx_setPledgedSrcSize(context_, *how.size);
    else
      set(ZSTD_c_windowLog, stream_window);
  }
  zstd_encoder(const zstd_encoder&) = delete;
  zstd_encoder& operator=(const zstd_encoder&) = delete;
  ~zstd_encoder() override { ::ZSTD_freeCCtx(context_); }

  void encode(std::string_view in, encode_until until, std::string& out) override {
    const auto mode = until == encode_until::end       ? ZSTD_e_end
                      : until == encode_until::flushed ? ZSTD_e_flush
                                                       : ZSTD_e_continue;
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    for (bool done = false; !done;) {
      const std::size_t before = out.size();
      const std::size_t room = std::clamp<std::size_t>(in.size() / 2, 512, 65'536);
      out.resize_and_overwrite(before + room, [&](char* memory, std::size_t) {
        ZSTD_outBuffer to{memory + before, room, 0};
        const std::size_t left = ::ZSTD_compressStream2(context_, &to, &from, mode);
        failed_ = ::ZSTD_isError(left) != 0;
        done = failed_ || (mode == ZSTD_e_continue ? from.pos == from.size : left == 0);
        return before + to.pos;
      });
    }
    if (failed_) throw std::bad_alloc();  // zstd has no other failure
  }

 private:
  void set(ZSTD_cParameter what, int value) noexcept { (void)::ZSTD_CCtx_setParameter(context_, what, value); }
  ZSTD_CCtx* context_;
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<content_encoder> make_zstd_encoder(const encoder_options& how) {
  return std::make_unique<zstd_encoder>(how);
}

}  // namespace gyre::http
