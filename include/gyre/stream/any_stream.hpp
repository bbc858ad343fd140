// gyre/stream/any_stream.hpp: holds a byte stream of any type.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/byte_stream.hpp>

#include <cstddef>
#include <span>
#include <system_error>
#include <utility>

namespace gyre {

/// Owns a byte stream of any type (TCP, TLS, memory) without exposing that type. Each operation costs one small
/// coroutine more than on the stream itself.
///
/// Reading and writing stop the program with a message when it is empty, that is, moved from or made without a stream.
/// Thread: that of the stream.
class GYRE_API any_stream {
 public:
  any_stream() noexcept = default;
  template <byte_stream S>
    requires(!std::same_as<S, any_stream>)
  explicit any_stream(S stream) : stream_(new model<S>(std::move(stream))) {}
  any_stream(any_stream&& other) noexcept : stream_(std::exchange(other.stream_, &none)) {}
  any_stream& operator=(any_stream&& other) noexcept {
    any_stream moved(std::move(other));
    std::swap(stream_, moved.stream_);
    return *this;
  }
  ~any_stream() {
    if (*this) delete std::exchange(stream_, &none);
  }

  /// Reads at least one byte. Returns the count, or 0 at the end.
  ///
  /// Lifetime: `buffer` must stay valid until the await returns. Cancel: same as the stream. Errors: same as the
  /// stream.
  [[nodiscard]] GYRE_CORO_WRAPPER task<std::size_t> read_some(std::span<std::byte> buffer) {
    return stream_->read_some(buffer);
  }

  /// Writes all bytes.
  ///
  /// Lifetime: `bytes` must stay valid until the await returns. Cancel: same as the stream. Errors: same as the stream.
  [[nodiscard]] GYRE_CORO_WRAPPER task<> write_all(std::span<const std::byte> bytes) {
    return stream_->write_all(bytes);
  }

  /// Signals the end of the data to the reader.
  ///
  /// Cancel: same as the stream. Errors: std::errc::operation_not_supported when the stream cannot be half-closed.
  [[nodiscard]] GYRE_CORO_WRAPPER task<> shutdown_write() { return stream_->shutdown_write(); }

  /// Waits between two messages, for the next one or for the request to stop. Returns true when there are bytes to
  /// read, false at the end of the stream and after a stop request. A stream without next_or_stop() (see
  /// stop_aware_stream) returns true at once: the next read waits, and does not observe the request.
  ///
  /// Cancel: nothing was taken. Errors: same as the stream.
  [[nodiscard]] GYRE_CORO_WRAPPER task<bool> next_or_stop() { return stream_->next_or_stop(); }

  /// After next_or_stop() has returned false: true when the stream has ended, rather than the request to stop has come.
  [[nodiscard]] bool has_ended() const noexcept { return stream_->has_ended(); }

  /// Ends the connection at once: undelivered data is lost, and the peer sees an error. No-op for a stream without
  /// abort() (see abortable_stream), and for an empty one.
  void abort() noexcept { stream_->abort(); }

  [[nodiscard]] explicit operator bool() const noexcept { return stream_ != &none; }

 private:
  struct interface {
    virtual ~interface() = default;
    virtual task<std::size_t> read_some(std::span<std::byte> buffer) = 0;
    virtual task<> write_all(std::span<const std::byte> bytes) = 0;
    virtual task<> shutdown_write() = 0;
    virtual task<bool> next_or_stop() = 0;
    [[nodiscard]] virtual bool has_ended() const noexcept = 0;
    virtual void abort() noexcept = 0;
  };

  template <class S>
  struct model final : interface {
    static_assert(takes_part_in_stops_or_not<S>, "a stream with next_or_stop() also needs bool has_ended() noexcept");
    explicit model(S&& owned) noexcept : stream(std::move(owned)) {}
    task<std::size_t> read_some(std::span<std::byte> buffer) override { co_return co_await stream.read_some(buffer); }
    task<> write_all(std::span<const std::byte> bytes) override { (void)co_await stream.write_all(bytes); }
    task<> shutdown_write() override {
      if constexpr (half_closable_stream<S>)
        co_await stream.shutdown_write();
      else
        throw std::system_error(std::make_error_code(std::errc::operation_not_supported), "shutdown_write");
      co_return;
    }
    task<bool> next_or_stop() override {
      if constexpr (stop_aware_stream<S>)
        co_return co_await stream.next_or_stop();
      else
        co_return true;
    }
    [[nodiscard]] bool has_ended() const noexcept override {
      if constexpr (stop_aware_stream<S>) return stream.has_ended();
      return false;
    }
    void abort() noexcept override {
      if constexpr (abortable_stream<S>) stream.abort();
    }
    S stream;
  };

  struct no_stream;
  static interface& none;

  interface* stream_ = &none;
};

}  // namespace gyre
