// src/client/brotli_decoder.cpp: decodes with Brotli. RFC 7932.
#include "content_decoder.hpp"

#include <brotli/decode.h>

#include <cstdint>
#include <new>

namespace gyre::http {
namespace {

class brotli_decoder final : public content_decoder {
 public:
  brotli_decoder() : state_(::BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {
    if (state_ == nullptr) throw std::bad_alloc();
  }
  brotli_decoder(const brotli_decoder&) = delete;
  brotli_decoder& operator=(const brotli_decoder&) = delete;
  ~brotli_decoder() override { ::BrotliDecoderDestroyInstance(state_); }

  step decode(std::string_view& in, std::span<char> out) override {
    if (complete()) return {.failed = !in.empty()};  // something follows the end
    const auto* next = reinterpret_cast<const std::uint8_t*>(in.data());
    std::size_t left = in.size();
    auto* to = reinterpret_cast<std::uint8_t*>(out.data());
    std::size_t room = out.size();
    const auto result = ::BrotliDecoderDecompressStream(state_, &left, &next, &room, &to, nullptr);
    in.remove_prefix(in.size() - left);
    return {.produced = out.size() - room, .failed = result == BROTLI_DECODER_RESULT_ERROR};
  }
  [[nodiscard]] bool complete() const noexcept override { return ::BrotliDecoderIsFinished(state_) == BROTLI_TRUE; }

 private:
  BrotliDecoderState* state_;
};

}  // namespace

std::unique_ptr<content_decoder> make_brotli_decoder() { return std::make_unique<brotli_decoder>(); }

}  // namespace gyre::http
