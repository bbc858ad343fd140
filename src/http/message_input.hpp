// src/http/message_input.hpp: the bytes that a connection has received and not used.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/buffer_lease.hpp>

#include "transport.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace gyre::http {

/// Heads are gathered in one place, where they stay while their request is answered; the bytes of a body stay where the
/// kernel has put them, until they are used or the next one is received.
class message_input {
 public:
  explicit message_input(std::chrono::nanoseconds body_limit) noexcept : body_limit_(body_limit) {}

  /// Begins to serve a connection, without a byte of the one before.
  void attach(http::transport& from) noexcept;

  /// The connection has no use for it any more: holds nothing of others.
  void detach() noexcept { lease_.release(); }

  /// Everything since the beginning of the message that is being looked at.
  [[nodiscard]] std::string_view head() const noexcept { return std::string_view(gathered_).substr(begin_); }
  [[nodiscard]] bool empty() const noexcept { return begin_ == gathered_.size() && lease_.empty(); }

  /// Adds what has been received. Views of the head are not valid any more.
  void append(std::string_view bytes) {
    drop_used();
    gathered_.append(bytes);
  }
  /// Ends the use of views of the message before: what was received behind its body is the beginning of the next head.
  void begin_next_message() {
    if (!lease_.empty()) append(lease_.text());
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
  /// When nothing is available: waits for more. The time limit is for all waits until `progress` bytes have come, so that
  /// a byte now and then does not keep a slow sender alive. Who waits holds no buffer: others may need it to go on.
  task<transfer> receive();

  GYRE_CORO_WRAPPER task<transfer> receive_forever() {
    lease_.release();
    return transport_->receive(lease_, std::chrono::nanoseconds::max());
  }

  [[nodiscard]] http::transport& transport() const noexcept { return *transport_; }

  // For a client that waits for "100 Continue" before it sends its body. Null: it is too late to say so.
  struct continue_sender {
    virtual task<transfer> send_continue() = 0;

   protected:
    ~continue_sender() = default;
  };
  continue_sender* on_continue = nullptr;
  /// A task waits in receive().
  [[nodiscard]] bool receives() const noexcept { return receives_; }
  bool broken = false;  // a body ended too early or was malformed: nothing can follow

 private:
  static constexpr std::size_t progress = std::size_t{16} << 10U;
  void drop_used() noexcept {
    gathered_.erase(0, begin_);
    begin_ = 0;
  }

  http::transport* transport_ = nullptr;
  std::chrono::nanoseconds body_limit_;
  std::chrono::nanoseconds waited_{0};
  std::size_t arrived_ = 0;  // during these waits
  // The limit has passed, and what had arrived by then has been taken: bytes that come in the same turn as the time-out win,
  // and a sender of one byte per turn would never be timed out.
  bool late_ = false;
  bool receives_ = false;
  std::string gathered_;
  std::size_t begin_ = 0;
  buffer_lease lease_;
};

}  // namespace gyre::http
