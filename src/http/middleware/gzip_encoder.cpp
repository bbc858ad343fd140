// src/http/middleware/gzip_encoder.cpp: encodes with zlib. RFC 1952.
#include "content_encoder.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace gyre::http {
namespace {

class gzip_encoder final : public content_encoder {
 public:
  explicit gzip_encoder(int level) {
    constexpr int window_and_gzip = 15 + 16;
    constexpr int memory = 8;
    if (::deflateInit2(&stream_, level, Z_DEFLATED, window_and_gzip, memory, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  gzip_encoder(const gzip_encoder&) = delete;
  gzip_encoder& operator=(const gzip_encoder&) = delete;
  ~gzip_encoder() override { ::deflateEnd(&stream_); }

  void encode(std::string_view in, encode_until until, std::string& out) override {
    constexpr std::size_t max_given = std::size_t{1} << 30U;  // zlib counts in 32 bits
    while (in.size() > max_given) {
      run(in.substr(0, max_given), Z_NO_FLUSH, out);
      in.remove_prefix(max_given);
    }
    run(in, until == encode_until::end ? Z_FINISH : until == encode_until::flushed ? Z_SYNC_FLUSH : Z_NO_FLUSH, out);
  }

 private:
  void run(std::string_view in, int mode, std::string& out) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // zlib does not modify it
    stream_.avail_in = static_cast<uInt>(in.size());
    do {
      const std::size_t before = out.size();
      const std::size_t room = std::clamp<std::size_t>(in.size() / 2, 512, 65'536);
      out.resize_and_overwrite(before + room, [&](char* memory, std::size_t) noexcept {
        stream_.next_out = reinterpret_cast<Bytef*>(memory + before);
        stream_.avail_out = static_cast<uInt>(room);
        ::deflate(&stream_, mode);
        return before + room - stream_.avail_out;
      });
    } while (stream_.avail_out == 0);  // if full, more may follow; otherwise all is taken and given
  }

  z_stream stream_{};
};

}  // namespace

std::unique_ptr<content_encoder> make_gzip_encoder(const encoder_options& how) {
  return std::make_unique<gzip_encoder>(std::clamp(how.gzip_level, 1, 9));
}

}  // namespace gyre::http
