// tests/http/decoding.hpp: decodes compressed bodies as a client does, with the compression libraries.
#pragma once

#ifdef GYRE_WITH_BROTLI
#include <brotli/decode.h>
#endif
#ifdef GYRE_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef GYRE_WITH_ZSTD
#include <zstd.h>
#endif

#include <cstdint>
#include <string>
#include <string_view>

namespace gyre_test {

struct decoded {
  std::string text;
  bool ended = false;  // the coding has marked its end
  bool failed = false;
};

#ifdef GYRE_WITH_ZLIB
inline decoded decode_gzip(std::string_view in) {
  decoded out;
  z_stream stream{};
  if (::inflateInit2(&stream, 15 + 16) != Z_OK) return {.text = {}, .failed = true};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  int result = Z_OK;
  do {
    char piece[4096];
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof(piece);
    result = ::inflate(&stream, Z_SYNC_FLUSH);
    out.text.append(piece, sizeof(piece) - stream.avail_out);
  } while (result == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0));
  out.ended = result == Z_STREAM_END;
  out.failed = result != Z_OK && result != Z_BUF_ERROR && !out.ended;
  ::inflateEnd(&stream);
  return out;
}
#endif

#ifdef GYRE_WITH_BROTLI
inline decoded decode_brotli(std::string_view in) {
  decoded out;
  BrotliDecoderState* const state = ::BrotliDecoderCreateInstance(nullptr, nullptr, nullptr);
  const auto* next = reinterpret_cast<const std::uint8_t*>(in.data());
  std::size_t left = in.size();
  BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
  while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
    std::uint8_t piece[4096];
    std::uint8_t* to = piece;
    std::size_t room = sizeof(piece);
    result = ::BrotliDecoderDecompressStream(state, &left, &next, &room, &to, nullptr);
    out.text.append(reinterpret_cast<const char*>(piece), sizeof(piece) - room);
  }
  out.ended = result == BROTLI_DECODER_RESULT_SUCCESS;
  out.failed = result == BROTLI_DECODER_RESULT_ERROR;
  ::BrotliDecoderDestroyInstance(state);
  return out;
}
#endif

#ifdef GYRE_WITH_ZSTD
inline decoded decode_zstd(std::string_view in) {
  decoded out;
  ZSTD_DCtx* const context = ::ZSTD_createDCtx();
  ZSTD_inBuffer from{in.data(), in.size(), 0};
  std::size_t result = 1;
  for (;;) {
    char piece[4096];
    ZSTD_outBuffer to{piece, sizeof(piece), 0};
    result = ::ZSTD_decompressStream(context, &to, &from);
    out.text.append(piece, to.pos);
    if (::ZSTD_isError(result) != 0 || result == 0 || (from.pos == from.size && to.pos < to.size)) break;
  }
  out.failed = ::ZSTD_isError(result) != 0;
  out.ended = result == 0;
  ::ZSTD_freeDCtx(context);
  return out;
}
#endif

inline decoded decode(std::string_view coding, std::string_view in) {
#ifdef GYRE_WITH_ZLIB
  if (coding == "gzip") return decode_gzip(in);
#endif
#ifdef GYRE_WITH_BROTLI
  if (coding == "br") return decode_brotli(in);
#endif
#ifdef GYRE_WITH_ZSTD
  if (coding == "zstd") return decode_zstd(in);
#endif
  return {.text = std::string(in), .ended = coding.empty(), .failed = !coding.empty()};
}

}  // namespace gyre_test
