// programs/resp_server/reply_buffer.hpp: a sequence of RESP2 replies, ready to be sent.
#pragma once

#include "programs/resp_server/integer.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace resp {

/// A growing range of bytes that keeps its memory when it is cleared.
///
/// Once a reply exceeds the limit, `overflowed()` is true and appended bytes are only counted: wanted() is the size
/// that would have been enough. drop_from() removes the incomplete reply.
class reply_buffer {
 public:
  static constexpr std::size_t default_limit = 128U << 20;
  static constexpr std::size_t no_limit = static_cast<std::size_t>(-1) / 2;
  static constexpr std::size_t max_header = 1 + max_integer_digits + 2;  ///< type, number, CR LF

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
  void append_error(std::string_view text);   ///< -ERR text; line ends in it become blanks
  void append_integer(std::int64_t value);    ///< :1
  void append_bulk(std::string_view bytes);   ///< $2 ab
  void append_null() { append("$-1\r\n"); }
  void append_array(std::size_t elements);  ///< *2; the elements follow

  /// Begins an array whose number of elements is not known yet. Returns the mark for finish_array(), which moves the
  /// bytes before the mark, not the elements.
  [[nodiscard]] std::size_t begin_array();
  void finish_array(std::size_t mark, std::size_t elements) noexcept;

  [[nodiscard]] std::string_view view() const noexcept { return {data_.get() + begin_, size_ - begin_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_ - begin_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == begin_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return allocated_; }
  [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }

  /// After an overflow: the limit that would have been enough.
  [[nodiscard]] std::size_t wanted() const noexcept { return size_ + missing_; }
  /// The position at which the next reply begins.
  [[nodiscard]] std::size_t mark() const noexcept { return size_; }
  /// Removes everything after a mark. wanted() stays known until clear().
  void drop_from(std::size_t mark) noexcept {
    missing_ += size_ - mark;
    size_ = usable_ = mark;
  }
  /// Removes the first `bytes` of view().
  void drop_front(std::size_t bytes) noexcept { begin_ += bytes; }
  /// Sets the limit for later replies. Existing bytes stay, even if they exceed it.
  void set_limit(std::size_t limit) noexcept { limit_ = limit; }

  /// Drops the bytes, but keeps the memory unless that is more than `max_kept`.
  void clear(std::size_t max_kept = default_limit) noexcept;

 private:
  // Returns where `bytes` more may be written, or nullptr when that exceeds the limit.
  char* make_room(std::size_t bytes) { return bytes <= usable_ - size_ ? data_.get() + size_ : grow(bytes); }
  char* grow(std::size_t bytes);
  void append_header(char type, std::int64_t number);

  std::unique_ptr<char[]> data_;
  std::size_t begin_ = 0;  // beginning of the bytes to be sent
  std::size_t size_ = 0;
  std::size_t usable_ = 0;  // allocated_, or size_ after an overflow
  std::size_t allocated_ = 0;
  std::size_t missing_ = 0;  // bytes not stored since an overflow
  std::size_t limit_;
  bool overflowed_ = false;
};

}  // namespace resp
