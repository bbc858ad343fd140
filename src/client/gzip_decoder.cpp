// src/client/gzip_decoder.cpp: decodes gzip and deflate with zlib. A gzip body may consist of several members: RFC
// 1952. Some servers send deflate without the zlib format around it: RFC 9110 §8.4.1.2.
#include "content_decoder.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace gyre::http {
namespace {

constexpr int window = 15;

class zlib_decoder final : public content_decoder {
 public:
  enum class format : bool { gzip, deflate };
  explicit zlib_decoder(format expected) : format_(expected) {
    constexpr int with_gzip = 16;
    if (::inflateInit2(&stream_, expected == format::gzip ? window + with_gzip : window) != Z_OK)
      throw std::bad_alloc();
  }
  zlib_decoder(const zlib_decoder&) = delete;
  zlib_decoder& operator=(const zlib_decoder&) = delete;
  ~zlib_decoder() override { ::inflateEnd(&stream_); }

  step decode(std::string_view& in, std::span<char> out) override {
    constexpr std::size_t max_given = std::size_t{1} << 30U;  // zlib counts in 32 bits
    if (complete_ && !in.empty()) {
      if (format_ == format::deflate) return {.failed = true};
      ::inflateReset(&stream_);
      complete_ = false;
    }
    if (format_ == format::deflate && !begun_ && !in.empty()) {
      begun_ = true;
      constexpr unsigned method = 0x0F;  // of the first byte: RFC 1950 §2.2
      if ((static_cast<unsigned char>(in[0]) & method) != Z_DEFLATED) ::inflateReset2(&stream_, -window);
    }
    const std::size_t given = std::min(in.size(), max_given);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // zlib does not modify it
    stream_.avail_in = static_cast<uInt>(given);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int result = complete_ ? Z_BUF_ERROR : ::inflate(&stream_, Z_NO_FLUSH);
    in.remove_prefix(given - stream_.avail_in);
    if (result == Z_STREAM_END) complete_ = true;
    const bool fine = result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
    return {.produced = out.size() - stream_.avail_out, .failed = !fine};
  }
  [[nodiscard]] bool complete() const noexcept override { return complete_; }

 private:
  z_stream stream_{};
  format format_;
  bool begun_ = false;
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<content_decoder> make_gzip_decoder() {
  return std::make_unique<zlib_decoder>(zlib_decoder::format::gzip);
}
std::unique_ptr<content_decoder> make_deflate_decoder() {
  return std::make_unique<zlib_decoder>(zlib_decoder::format::deflate);
}

}  // namespace gyre::http
