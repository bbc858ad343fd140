// src/http/brotli_encoder.cpp: RFC 7932.
#include "content_encoder.hpp"

#include <brotli/encode.h>

#include <algorithm>
#include <limits>
#include <new>

namespace gyre::http {
namespace {

class brotli_encoder final : public content_encoder {
 public:
  explicit brotli_encoder(const encoder_options& how)
      : state_(::BrotliEncoderCreateInstance(nullptr, nullptr, nullptr)) {
    constexpr std::uint32_t stream_window = 18;  // 256 KiB: a stream keeps it for as long as it lasts
    constexpr std::uint32_t window = 22;
    if (state_ == nullptr) throw std::bad_alloc();
    const int quality = std::clamp(how.brotli_quality, BROTLI_MIN_QUALITY, BROTLI_MAX_QUALITY);
    set(BROTLI_PARAM_QUALITY, static_cast<std::uint32_t>(quality));
    set(BROTLI_PARAM_MODE, BROTLI_MODE_TEXT);
    set(BROTLI_PARAM_LGWIN, how.size ? window : stream_window);
    constexpr std::uint64_t largest = std::numeric_limits<std::uint32_t>::max();
    if (how.size) set(BROTLI_PARAM_SIZE_HINT, static_cast<std::uint32_t>(std::min(*how.size, largest)));
  }
  brotli_encoder(const brotli_encoder&) = delete;
  brotli_encoder& operator=(const brotli_encoder&) = delete;
  ~brotli_encoder() override { ::BrotliEncoderDestroyInstance(state_); }

  void encode(std::string_view in, encode_until until, std::string& out) override {
    const auto operation = until == encode_until::end       ? BROTLI_OPERATION_FINISH
                           : until == encode_until::flushed ? BROTLI_OPERATION_FLUSH
                                                            : BROTLI_OPERATION_PROCESS;
    const auto* next = reinterpret_cast<const std::uint8_t*>(in.data());
    std::size_t left = in.size();
    do {
      std::size_t no_room = 0;
      if (::BrotliEncoderCompressStream(state_, operation, &left, &next, &no_room, nullptr, nullptr) == BROTLI_FALSE)
        throw std::bad_alloc();  // nothing else can go wrong
      std::size_t size = 0;
      const std::uint8_t* const bytes = ::BrotliEncoderTakeOutput(state_, &size);
      out.append(reinterpret_cast<const char*>(bytes), size);
    } while (left > 0 || ::BrotliEncoderHasMoreOutput(state_) != BROTLI_FALSE);
  }

 private:
  void set(BrotliEncoderParameter what, std::uint32_t value) noexcept {
    (void)::BrotliEncoderSetParameter(state_, what, value);
  }
  BrotliEncoderState* state_;
};

}  // namespace

std::unique_ptr<content_encoder> make_brotli_encoder(const encoder_options& how) {
  return std::make_unique<brotli_encoder>(how);
}

}  // namespace gyre::http
