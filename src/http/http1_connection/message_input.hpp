// src/http/http1_connection/message_input.hpp: bytes that a connection has received but not used yet.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/buffer_lease.hpp>

#include "exchange/exchange_link.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::http {

/// Heads are gathered in one buffer, where they stay while their request is answered. The bytes of a body stay in the
/// buffer that the kernel filled until they are used or the next ones are received.
class message_input {
 public:
  explicit message_input(std::chrono::nanoseconds body_limit) noexcept : body_limit_(body_limit) {}

  /// Starts serving a connection; nothing of the previous connection is left.
  void attach(http::transport& from) noexcept {
    transport_ = &from;
    gathered_.clear();
    begin_ = 0;
    broken = false;
    waited_ = {};
    arrived_ = 0;
    late_ = false;
  }

  /// The connection does not need it any more: gives memory back, but for a buffer of usual size.
  void detach() noexcept {
    constexpr std::size_t kept = std::size_t{64} << 10U;
    lease_.release();
    if (gathered_.capacity() > kept) std::string().swap(gathered_);
  }

  /// Everything from the beginning of the current message on.
  [[nodiscard]] std::string_view head() const noexcept { return std::string_view(gathered_).substr(begin_); }
  [[nodiscard]] bool empty() const noexcept { return begin_ == gathered_.size() && lease_.empty(); }

  /// Appends received bytes. Invalidates views of the head.
  void append(std::string_view bytes) {
    drop_used();
    gathered_.append(bytes);
  }
  /// The same for bytes in a lent buffer. Of a large one, which holds most of a body, only the beginning is copied.
  [[gnu::always_inline]] void append(buffer_lease&& bytes) {
    append(bytes.text().substr(0, gathered_at_once));
    if (bytes.size() <= gathered_at_once) return bytes.release();
    bytes.consume(gathered_at_once);
    lease_ = std::move(bytes);
  }
  /// Appends what is left of that buffer, for a head that goes on there. Returns false when there is nothing.
  bool append_rest() {
    if (lease_.empty()) return false;
    append(lease_.text());
    lease_.release();
    return true;
  }
  /// Ends the use of views of the previous message. Bytes received after its body become
  /// the beginning of the next head.
  void begin_next_message() {
    append_rest();
    lease_.release();
    if (begin_ == gathered_.size()) drop_used();
  }

  // For bodies.
  [[nodiscard]] std::string_view available() const noexcept {
    return begin_ < gathered_.size() ? head() : lease_.text();
  }
  void consume(std::size_t count) noexcept {
    if (begin_ < gathered_.size())
      begin_ += count;
    else
      lease_.consume(count);
  }
  /// When nothing is available: waits for more. The time limit covers all waits until `progress` bytes
  /// have come, so a byte now and then does not keep a slow sender alive. Holds no buffer while waiting:
  /// others may need it to make progress.
  task<std::error_code> receive();
  /// The same for bulk, of which nothing comes here: at most `most` bytes. See transport::receive_bulk.
  task<std::error_code> receive_bulk(socket_bulk& piece, std::uint64_t max_count);

  /// The same with a limit of the caller, whatever earlier waits have taken.
  GYRE_CORO_WRAPPER task<std::error_code> receive_within(std::chrono::nanoseconds limit) {
    lease_.release();
    return transport_->receive(lease_, limit);
  }

  [[nodiscard]] http::transport& transport() const noexcept { return *transport_; }

  /// Sends interim responses, such as "100 Continue". Null when it is too late for them.
  exchange_link* before_response = nullptr;
  /// True while a task waits in receive().
  [[nodiscard]] bool receives() const noexcept { return receives_; }
  bool broken = false;  // a body ended early or was malformed: no further message can follow

 private:
  class waiting;
  static constexpr std::size_t progress = std::size_t{16} << 10U;
  static constexpr std::size_t gathered_at_once = std::size_t{16} << 10U;
  void drop_used() noexcept {
    if (begin_ == 0) return;
    gathered_.erase(0, begin_);
    begin_ = 0;
  }

  http::transport* transport_ = nullptr;
  std::chrono::nanoseconds body_limit_;
  std::chrono::nanoseconds waited_{0};
  std::size_t arrived_ = 0;  // bytes received during these waits
  // The limit has passed, and the bytes that had arrived by then were taken. Without this flag, bytes that come in the
  // same turn as the time-out would win, and a sender of one byte per turn would never be timed out.
  bool late_ = false;
  bool receives_ = false;
  std::string gathered_;
  std::size_t begin_ = 0;
  buffer_lease lease_;
};

}  // namespace gyre::http
