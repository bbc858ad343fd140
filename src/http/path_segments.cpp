// src/http/path_segments.cpp: splitting at slashes, and decoding where there is a percent sign.
#include "path_segments.hpp"

#include "characters.hpp"

#include <algorithm>

namespace gyre::http {

void path_segments::split() {
  const std::size_t begin = begin_of(count_) + 1;  // behind the slash
  const std::size_t end = std::min(path_.find('/', begin), path_.size());
  const std::string_view text = path_.substr(begin, end - begin);
  segment one{
      .sent = text.data(), .sent_size = text.size(), .decoded = text.data(), .decoded_size = text.size(), .end = end};
  if (text.find('%') != std::string_view::npos) decode(one);
  if (count_ < first_.size())
    first_[count_] = one;
  else
    more_.push_back(one);
  ++count_;
}

// Decoded text is shorter than what was sent, so that `decoded_` never moves.
void path_segments::decode(segment& one) {
  if (decoded_.empty()) decoded_.reserve(path_.size());
  const std::size_t begin = decoded_.size();
  const std::string_view text(one.sent, one.sent_size);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded_ += text[i];
      continue;
    }
    const int high = text.size() - i < 3 ? -1 : hex_value(text[i + 1]);
    const int low = high < 0 ? -1 : hex_value(text[i + 2]);
    if (low < 0) {
      one.decoded = nullptr;
      one.decoded_size = 0;
      return;
    }
    decoded_ += static_cast<char>(high * 16 + low);
    i += 2;
  }
  one.decoded = decoded_.data() + begin;
  one.decoded_size = decoded_.size() - begin;
}

}  // namespace gyre::http
