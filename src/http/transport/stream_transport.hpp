// src/http/transport/stream_transport.hpp: carries HTTP over any byte stream: TLS, memory.
#pragma once

#include <gyre/stream/any_stream.hpp>
#include <gyre/sync/event.hpp>

#include "transport.hpp"

#include <array>
#include <chrono>
#include <cstddef>

namespace gyre::http {

/// One task does all the reading. It continues while the end is being watched for, because a stream reports its end
/// only to a reader. Bytes read meanwhile are kept, within a bound, and received later.
class stream_transport final : public transport {
 public:
  /// The peer must take the end of the data within `end_limit`. Lifetime: `stream` must outlive this.
  stream_transport(any_stream& stream, std::chrono::nanoseconds end_limit) noexcept
      : stream_(stream), end_limit_(end_limit) {}

  /// Reads for the other functions until it is cancelled. Cancel: nothing is lost.
  task<> read();

  task<std::error_code> receive(buffer_lease& into, std::chrono::nanoseconds limit) override;
  task<std::error_code> write(std::string_view first, std::string_view second, std::chrono::nanoseconds limit) override;
  task<send_file_result> send_file(int file, std::uint64_t offset, std::size_t count,
                                   std::chrono::nanoseconds limit) override;
  std::ptrdiff_t write_now(std::string_view, write_hint) noexcept override { return 0; }
  [[nodiscard]] bool writes_now() const noexcept override { return false; }
  task<> shutdown_write() override;
  void reset_at_end() noexcept override {
    reset_ = true;
    stream_.abort();
  }
  /// To be called when the connection has ended in order: over TLS, the peer can tell that from a truncation. RFC 8446
  /// §6.1. Cancel: the peer may see a truncation.
  task<> say_goodbye();
  void interrupt() noexcept override;
  [[nodiscard]] bool is_broken() const noexcept override {
    return end_ && end_ != make_error_code(stream_errc::end_of_stream) && end_ != time_limit_passed();
  }
  void watch_end(end_watch* watch) noexcept override;

 private:
  static constexpr std::size_t max_ahead = 4;  // number of buffers

  [[nodiscard]] bool wants_bytes() const noexcept {
    return !end_ && ((receiving_ && count_ == 0) || (watch_ != nullptr && count_ < max_ahead));
  }
  task<> read_once();

  any_stream& stream_;
  const std::chrono::nanoseconds end_limit_;
  event wanted_;   // `read` may have work to do
  event changed_;  // there may be something to receive
  std::array<buffer_lease, max_ahead> received_;
  std::size_t first_ = 0;  // index in the ring
  std::size_t count_ = 0;
  std::error_code end_;  // the outcome after the buffered bytes, for ever
  end_watch* watch_ = nullptr;
  bool receiving_ = false;
  bool reset_ = false;
};

}  // namespace gyre::http
