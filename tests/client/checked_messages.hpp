// tests/client/checked_messages.hpp: a connection whose bodies show their positions, and are checked byte by byte.
#pragma once

#include "tests/client/ordered_bodies.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace gyre_test {

/// A connection with a message after the other, whose bodies show their positions.
class checked_messages {
 public:
  explicit checked_messages(gyre::tcp_stream& stream) noexcept : stream_(&stream) {}

  /// Returns the next head, or "" at the end of the connection.
  gyre::task<std::string> head() {
    std::size_t end = 0;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      const bool more = co_await receive();
      if (!more) co_return std::string();
    }
    std::string head = received_.substr(0, end + 4);
    received_.erase(0, end + 4);
    co_return head;
  }
  /// Takes the bytes of a body from one position to another. Returns where it came to.
  gyre::task<std::size_t> take(unsigned seed, std::size_t from, std::size_t to) {
    while (from < to) {
      if (received_.empty()) {
        const bool more = co_await receive();
        if (!more) break;
      }
      const std::size_t count = std::min(received_.size(), to - from);
      const std::size_t same = matching(std::as_bytes(std::span(received_).first(count)), seed, from);
      from += same;
      if (same < count)
        throw std::runtime_error("byte " + std::to_string(from) + " of " + std::to_string(seed) + " is another");
      received_.erase(0, count);
    }
    co_return from;
  }
  /// The same for sending. Returns where it came to: less when the connection broke.
  gyre::task<std::size_t> give(unsigned seed, std::size_t from, std::size_t to) {
    constexpr std::size_t most = 300'000;
    while (from < to) {
      const std::string piece = patterned(seed, from, std::min(most, to - from));
      auto writing = stream_->write_all(piece);
      const auto written = co_await gyre::as_expected(std::move(writing));
      if (!written) break;
      from += piece.size();
    }
    co_return from;
  }
  /// Returns the status line and the text of the next response, or "" when there is none.
  gyre::task<std::string> answer() {
    const std::string head = co_await this->head();
    if (head.empty()) co_return head;
    constexpr std::string_view length = "Content-Length: ";
    const std::size_t at = head.find(length);
    const std::size_t size = at == std::string::npos ? 0 : std::stoul(head.substr(at + length.size()));
    while (received_.size() < size) {
      const bool more = co_await receive();
      if (!more) break;
    }
    std::string all = head.substr(9, 3) + " " + received_.substr(0, size);
    received_.erase(0, size);
    co_return all;
  }
  /// Returns true when nothing more comes.
  gyre::task<bool> at_end() {
    if (!received_.empty()) co_return false;
    const bool more = co_await receive();
    co_return !more;
  }
  [[nodiscard]] bool has_more() const noexcept { return !received_.empty(); }
  [[nodiscard]] bool was_reset() const noexcept { return was_reset_; }
  /// The bytes that have arrived and were not taken yet.
  [[nodiscard]] const std::string& received() const noexcept { return received_; }

 private:
  gyre::task<bool> receive() {
    std::string buffer(100'000, '\0');
    auto reading = stream_->read_some(std::span<char>(buffer));
    const auto count = co_await gyre::as_expected(std::move(reading));
    was_reset_ = was_reset_ || !count;
    if (!count || *count == 0) co_return false;
    received_.append(buffer.data(), *count);
    co_return true;
  }

  gyre::tcp_stream* stream_;
  std::string received_;
  bool was_reset_ = false;
};

}  // namespace gyre_test
