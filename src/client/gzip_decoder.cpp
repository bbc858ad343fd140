// src/client/gzip_decoder.cpp: decodes with zlib. RFC 1952: a body may consist of several members.
#include "content_decoder.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace gyre::http {
namespace {

class gzip_decoder final : public content_decoder {
 public:
  gzip_decoder() {
    constexpr int window_and_gzip = 15 + 16;
    if (::inflateInit2(&stream_, window_and_gzip) != Z_OK) throw std::bad_alloc();
  }
  gzip_decoder(const gzip_decoder&) = delete;
  gzip_decoder& operator=(const gzip_decoder&) = delete;
  ~gzip_decoder() override { ::inflateEnd(&stream_); }

  step decode(std::string_view& in, std::span<char> out) override {
    constexpr std::size_t most = std::size_t{1} << 30U;  // zlib counts in 32 bits
    if (complete_ && !in.empty()) {
      ::inflateReset(&stream_);
      complete_ = false;
    }
    const std::size_t given = std::min(in.size(), most);
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
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<content_decoder> make_gzip_decoder() { return std::make_unique<gzip_decoder>(); }

}  // namespace gyre::http
