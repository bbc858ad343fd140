// programs/resp_server/reply_buffer.cpp: a sequence of RESP2 replies, ready to be sent.
#include "programs/resp_server/reply_buffer.hpp"

#include <algorithm>
#include <utility>

namespace resp {
namespace {

constexpr std::size_t first_allocation = 512;

// Writes "$12\r\n". The room must be there.
char* write_header(char* to, char type, std::int64_t number) noexcept {
  *to++ = type;
  if (number >= 0 && number < 10) {
    *to++ = static_cast<char>('0' + number);
  } else {
    const decimal digits(number);
    std::memcpy(to, digits.view().data(), digits.view().size());
    to += digits.view().size();
  }
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

}  // namespace

reply_buffer::reply_buffer(reply_buffer&& other) noexcept : limit_(other.limit_) { *this = std::move(other); }

reply_buffer& reply_buffer::operator=(reply_buffer&& other) noexcept {
  if (this == &other) return *this;
  data_ = std::move(other.data_);
  begin_ = std::exchange(other.begin_, 0);
  size_ = std::exchange(other.size_, 0);
  usable_ = std::exchange(other.usable_, 0);
  allocated_ = std::exchange(other.allocated_, 0);
  missing_ = std::exchange(other.missing_, 0);
  overflowed_ = std::exchange(other.overflowed_, false);
  limit_ = other.limit_;
  return *this;
}

void reply_buffer::append_status(std::string_view text) {
  char* to = make_room(text.size() + 3);
  if (to == nullptr) return;
  *to = '+';
  std::memcpy(to + 1, text.data(), text.size());
  std::memcpy(to + 1 + text.size(), "\r\n", 2);
  size_ += text.size() + 3;
}

void reply_buffer::append_error(std::string_view text) {
  while (text.ends_with('\r') || text.ends_with('\n')) text.remove_suffix(1);
  char* to = make_room(text.size() + 3);
  if (to == nullptr) return;
  *to++ = '-';
  for (const char c : text) *to++ = c == '\r' || c == '\n' ? ' ' : c;
  std::memcpy(to, "\r\n", 2);
  size_ += text.size() + 3;
}

void reply_buffer::append_integer(std::int64_t value) { append_header(':', value); }

void reply_buffer::append_array(std::size_t elements) { append_header('*', static_cast<std::int64_t>(elements)); }

void reply_buffer::append_header(char type, std::int64_t number) {
  char* to = make_room(max_header);
  if (to == nullptr) return;
  size_ += static_cast<std::size_t>(write_header(to, type, number) - to);
}

void reply_buffer::append_bulk(std::string_view bytes) {
  const bool only_counted = overflowed_;
  char* begin = make_room(max_header + bytes.size() + 2);
  if (begin == nullptr) {
    if (!only_counted) return;  // the first one includes the room that the last one needs
    char header[max_header];
    missing_ -= static_cast<std::size_t>(header + max_header -
                                         write_header(header, '$', static_cast<std::int64_t>(bytes.size())));
    return;
  }
  char* to = write_header(begin, '$', static_cast<std::int64_t>(bytes.size()));
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  to += bytes.size();
  std::memcpy(to, "\r\n", 2);
  size_ += static_cast<std::size_t>(to + 2 - begin);
}

std::size_t reply_buffer::begin_array() {
  const std::size_t mark = size_;
  if (make_room(max_header) != nullptr) size_ += max_header;
  return mark;
}

void reply_buffer::finish_array(std::size_t mark, std::size_t elements) noexcept {
  if (overflowed_) return;
  char header[max_header];
  const auto bytes = static_cast<std::size_t>(write_header(header, '*', static_cast<std::int64_t>(elements)) - header);
  const std::size_t gap = max_header - bytes;
  char* const data = data_.get();
  std::memmove(data + begin_ + gap, data + begin_, mark - begin_);
  std::memcpy(data + mark + gap, header, bytes);
  begin_ += gap;
}

char* reply_buffer::grow(std::size_t bytes) {
  if (overflowed_ || size_ > limit_ || bytes > limit_ - size_) {
    overflowed_ = true;
    missing_ += bytes;
    usable_ = size_;  // nothing fits any more, not even small replies
    return nullptr;
  }
  // Near the limit, allocate only a little more than needed: other clients may need the rest.
  const std::size_t needed = size_ + bytes;
  const std::size_t doubled = std::max(first_allocation, allocated_ * 2);
  const std::size_t wanted = std::max(needed, doubled <= limit_ ? doubled : std::min(needed + needed / 16, limit_));
  auto bigger = std::make_unique_for_overwrite<char[]>(wanted);
  if (size_ != 0) std::memcpy(bigger.get(), data_.get(), size_);
  data_ = std::move(bigger);
  allocated_ = usable_ = wanted;
  return data_.get() + size_;
}

void reply_buffer::clear(std::size_t max_kept) noexcept {
  begin_ = size_ = missing_ = 0;
  overflowed_ = false;
  if (allocated_ > max_kept) {
    data_.reset();
    allocated_ = 0;
  }
  usable_ = allocated_;
}

}  // namespace resp
