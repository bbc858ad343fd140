// programs/resp_server/reply_buffer.hpp: a sequence of RESP2 replies, ready to be sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace resp {

/// A growing range of bytes that keeps its memory when it is cleared.
///
/// Each command appends one reply, by one call. A reply over the limit is left out as a whole, see overflow().
class reply_buffer {
 public:
  explicit reply_buffer(std::size_t limit) noexcept : limit_(limit) {}
  reply_buffer& operator=(reply_buffer&&) = delete;

  void append(std::string_view bytes) {
    if (char* const to = make_room(bytes.size())) {
      std::memcpy(to, bytes.data(), bytes.size());
      size_ += bytes.size();
    }
  }
  void append_error(std::string_view text);  ///< -ERR text; control characters become blanks
  void append_integer(std::int64_t value) { append_number(':', value); }
  void append_array(std::size_t elements) { append_number('*', static_cast<std::int64_t>(elements)); }
  void append_bulk(std::string_view bytes);  ///< $2 ab
  void append_null() { append("$-1\r\n"); }

  [[nodiscard]] std::string_view view() const noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return allocated_; }

  /// The room that the last reply needs, when it did not fit; otherwise 0.
  [[nodiscard]] std::size_t overflow() const noexcept { return overflow_; }
  void clear_overflow() noexcept { overflow_ = 0; }
  /// Sets the size up to which the buffer may grow.
  void set_limit(std::size_t limit) noexcept { limit_ = limit; }

  /// Drops the bytes, but keeps the memory unless that is more than the limit.
  void clear() noexcept;

 private:
  static constexpr std::size_t max_number = 24;  // "$-9223372036854775808\r\n"

  // Returns where `bytes` more may be written, or null when that exceeds the limit.
  char* make_room(std::size_t bytes) { return bytes <= allocated_ - size_ ? data_.get() + size_ : grow(bytes); }
  char* grow(std::size_t bytes);
  void append_number(char type, std::int64_t number);

  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t allocated_ = 0;
  std::size_t overflow_ = 0;
  std::size_t limit_;
};

}  // namespace resp
