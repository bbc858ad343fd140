// programs/resp_server/reply_buffer.cpp: a sequence of RESP2 replies, ready to be sent.
#include "programs/resp_server/reply_buffer.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace resp {
void reply_buffer::append_error(std::string_view text) {
  std::string line = "-" + std::string(text);
  for (char& c : line) c = c >= 0 && c < ' ' ? ' ' : c;
  append(line + "\r\n");
}

void reply_buffer::append_number(char type, std::int64_t number) {
  char* const begin = make_room(max_number);
  if (begin == nullptr) return;
  *begin = type;
  char* const end = std::to_chars(begin + 1, begin + max_number, number).ptr;
  std::memcpy(end, "\r\n", 2);
  size_ += static_cast<std::size_t>(end + 2 - begin);
}

void reply_buffer::append_bulk(std::string_view bytes) {
  if (make_room(max_number + bytes.size() + 2) == nullptr) return;
  append_number('$', static_cast<std::int64_t>(bytes.size()));
  append(bytes);
  append("\r\n");
}

char* reply_buffer::grow(std::size_t bytes) {
  if (size_ + bytes > limit_) {
    overflow_ = bytes;
    return nullptr;
  }
  // Near the limit, only what is needed is allocated: other clients may need the rest.
  const std::size_t doubled = std::min(limit_, std::max<std::size_t>(512, allocated_ * 2));
  const std::size_t wanted = std::max(size_ + bytes, doubled);
  auto bigger = std::make_unique_for_overwrite<char[]>(wanted);
  if (size_ != 0) std::memcpy(bigger.get(), data_.get(), size_);
  data_ = std::move(bigger);
  allocated_ = wanted;
  return data_.get() + size_;
}

void reply_buffer::clear() noexcept {
  size_ = overflow_ = 0;
  if (allocated_ <= limit_) return;
  data_.reset();
  allocated_ = 0;
}

}  // namespace resp
