// src/http/router/path_segments.cpp: the rare paths: percent signs, and more than 16 segments.
#include "path_segments.hpp"

#include "semantics/characters.hpp"

namespace gyre::http {

path_segments::segment& path_segments::add_more() {
  if (!more_) more_ = std::make_unique<allocated>();
  return more_->segments.emplace_back();
}

// Decoded text is shorter than the encoded text, so `all` never reallocates.
void path_segments::decode(segment& one) {
  if (!more_) more_ = std::make_unique<allocated>();
  std::string& all = more_->decoded;
  all.reserve(path_.size());
  const std::size_t begin = all.size();
  const std::string_view text(one.sent, one.sent_size);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      all += text[i];
      continue;
    }
    const int high = text.size() - i < 3 ? -1 : hex_value(text[i + 1]);
    const int low = high < 0 ? -1 : hex_value(text[i + 2]);
    if (low < 0) {
      one.decoded = nullptr;
      one.decoded_size = 0;
      return;
    }
    all += static_cast<char>(high * 16 + low);
    i += 2;
  }
  one.decoded = all.data() + begin;
  one.decoded_size = all.size() - begin;
}

}  // namespace gyre::http
