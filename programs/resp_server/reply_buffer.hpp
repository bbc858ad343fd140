// programs/resp_server/reply_buffer.hpp: RESP2 replies, one behind the other, ready to be sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace resp {

/// A growing range of bytes that keeps its memory when it is cleared.
///
/// A reply that would pass the limit is dropped together with everything after it: then
/// `overflowed()` is true, the bytes are no longer a valid stream and the connection must be closed.
class reply_buffer {
 public:
  static constexpr std::size_t default_limit = 256U << 20;

  explicit reply_buffer(std::size_t limit = default_limit) noexcept : limit_(limit) {}
  reply_buffer(reply_buffer&& other) noexcept;
  reply_buffer& operator=(reply_buffer&& other) noexcept;

  void append(std::string_view bytes) {
    if (char* to = bytes.empty() ? nullptr : make_room(bytes.size())) {
      std::memcpy(to, bytes.data(), bytes.size());
      size_ += bytes.size();
    }
  }
  void append_status(std::string_view text);  ///< +OK
  void append_error(std::string_view text);   ///< -ERR text; line ends inside become blanks
  void append_integer(std::int64_t value);    ///< :1
  void append_bulk(std::string_view bytes);   ///< $2 ab
  void append_null() { append("$-1\r\n"); }
  void append_array(std::size_t elements);  ///< *2, the elements follow

  [[nodiscard]] std::string_view view() const noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t capacity() const noexcept { return allocated_; }
  [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }

  /// Forgets the bytes and keeps the memory, unless that is more than `keep_at_most`.
  void clear(std::size_t keep_at_most = default_limit) noexcept;

 private:
  // Where `bytes` more may be written; nullptr: over the limit.
  char* make_room(std::size_t bytes) { return bytes <= usable_ - size_ ? data_.get() + size_ : grow(bytes); }
  char* grow(std::size_t bytes);
  void append_header(char type, std::int64_t number);

  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t usable_ = 0;  // allocated_, or size_ after an overflow
  std::size_t allocated_ = 0;
  std::size_t limit_;
  bool overflowed_ = false;
};

}  // namespace resp
