// gyre/tls/transport.hpp: the byte stream below TLS, whatever its type. For the implementation of tls::stream.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/buffer_lease.hpp>
#include <gyre/net/address.hpp>
#include <gyre/stream/byte_stream.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::tls {

class transport {
 public:
  transport() noexcept = default;
  transport& operator=(transport&&) = delete;
  virtual ~transport() = default;

  /// Waits for bytes; empty at the end.
  virtual task<buffer_lease> receive() = 0;
  /// Waits between two messages. Takes nothing.
  enum class next : unsigned char { arrived, ended, stopped };
  virtual task<next> next_or_stop() = 0;
  virtual task<> write_all(std::span<const std::byte> bytes) = 0;
  /// Writes what the kernel takes at once, and returns its size; 0 for a stream that may have to wait. Negative after
  /// an error, which the next write reports.
  virtual std::ptrdiff_t write_now(std::string_view bytes) noexcept = 0;
  virtual void abort() noexcept = 0;
  /// Empty for a stream without addresses.
  [[nodiscard]] virtual address peer_address() const = 0;
  [[nodiscard]] virtual address local_address() const = 0;
};

using transport_owner = owned<transport*, delete_target>;

template <class S>
class transport_over final : public transport {
 public:
  static_assert(takes_part_in_stops_or_not<S>, "a stream with next_or_stop() also needs bool has_ended() noexcept");

  explicit transport_over(S&& below) noexcept : below_(std::move(below)) {}

  task<buffer_lease> receive() override {
    if constexpr (lending_stream<S>) {
      co_return co_await below_.receive();
    } else {
      constexpr std::size_t max_size = std::size_t{16} << 10U;
      auto* const block = new std::byte[max_size];
      buffer_lease lease(block, {block, max_size});
      lease.shorten(co_await below_.read_some(lease.bytes()));
      co_return lease;
    }
  }
  task<next> next_or_stop() override {
    bool more = true;
    if constexpr (stop_aware_stream<S>) {
      more = co_await below_.next_or_stop();
      if (!more && !below_.has_ended()) co_return next::stopped;
    }
    co_return more ? next::arrived : next::ended;
  }
  task<> write_all(std::span<const std::byte> bytes) override { (void)co_await below_.write_all(bytes); }
  std::ptrdiff_t write_now(std::string_view bytes) noexcept override {
    if constexpr (requires {
                    { below_.socket().write_now(bytes, false) } noexcept;
                  })
      return below_.socket().write_now(bytes, false);
    else
      return 0;
  }
  void abort() noexcept override {
    if constexpr (abortable_stream<S>) below_.abort();
  }
  [[nodiscard]] address peer_address() const override {
    if constexpr (requires {
                    { below_.peer_address() } -> std::convertible_to<address>;
                  })
      return below_.peer_address();
    else
      return {};
  }
  [[nodiscard]] address local_address() const override {
    if constexpr (requires {
                    { below_.local_address() } -> std::convertible_to<address>;
                  })
      return below_.local_address();
    else
      return {};
  }

 private:
  S below_;
};

template <class S>
[[nodiscard]] transport_owner make_transport(S below) {
  return transport_owner(new transport_over<S>(std::move(below)));
}

/// Names the peer of a stream in errors: its address, if it has one.
template <class S>
[[nodiscard]] std::string peer_of(const S& below) {
  if constexpr (requires { below.peer_address().string(); })
    return below.peer_address().string();
  else
    return {};
}

}  // namespace gyre::tls
