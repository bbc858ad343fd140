// programs/resp_server/client_memory.hpp: the memory of all clients' requests and replies, and the largest clients.
#pragma once

#include <array>
#include <bit>
#include <cstddef>

namespace resp {

class client_memory;

/// The buffers of one client. Lifetime: the client_memory must outlive it.
class client_account {
 public:
  using end_client = void (*)(client_account&) noexcept;

  /// `end` is called when the client is evicted. It must make the client release its buffers and destroy this
  /// account, but not during the call.
  client_account(client_memory& memory, end_client end) noexcept : memory_(memory), end_(end) {}
  client_account(const client_account&) = delete;
  client_account& operator=(const client_account&) = delete;
  ~client_account();

  /// Sets the number of bytes that the client's buffers now take.
  void set(std::size_t bytes) noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool evicted() const noexcept { return evicted_; }

 private:
  friend class client_memory;

  client_memory& memory_;
  end_client end_;
  std::size_t bytes_ = 0;
  bool evicted_ = false;
  client_account* next_ = nullptr;  // in the bucket of clients of similar size
  client_account** link_ = nullptr;
};

/// Adds up the memory of all clients, and evicts the largest ones when others lack memory,
/// like maxmemory-clients of Redis.
///
/// Clients are sorted into buckets by powers of two. So neither a change of size nor the search for a large client
/// depends on the number of clients.
class client_memory {
 public:
  explicit client_memory(std::size_t limit) noexcept : limit_(limit) {}
  client_memory(const client_memory&) = delete;
  client_memory& operator=(const client_memory&) = delete;

  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  /// Bytes that evicted clients still hold.
  [[nodiscard]] std::size_t leaving() const noexcept { return leaving_; }
  [[nodiscard]] std::size_t available() const noexcept { return used_ < limit_ ? limit_ - used_ : 0; }
  [[nodiscard]] bool over_limit() const noexcept { return used_ - leaving_ > limit_; }
  /// The total that one client may hold before others must be evicted, in bytes.
  [[nodiscard]] std::size_t available_to(const client_account& one) const noexcept { return available() + one.bytes_; }

  /// Evicts clients that hold more than `asking` would with `bytes` in total, until that fits. Returns false when it
  /// cannot fit. The memory is available only once the evicted clients have released theirs: see available_to().
  bool make_room(const client_account& asking, std::size_t bytes) noexcept;

  /// Evicts the largest clients until the limit is met.
  void keep_limit() noexcept;

  [[nodiscard]] std::size_t evicted_clients() const noexcept { return evicted_; }

 private:
  friend class client_account;

  static constexpr std::size_t min_bits = 10;  // all clients below 1 KiB are treated alike
  static std::size_t bucket_of(std::size_t bytes) noexcept {
    const auto bits = static_cast<std::size_t>(std::bit_width(bytes));
    return bits > min_bits ? bits - min_bits : 0;
  }
  void insert(client_account& one) noexcept;
  static void remove(client_account& one) noexcept;
  void evict(client_account& one) noexcept;
  [[nodiscard]] client_account* largest(const client_account* spared) const noexcept;

  std::size_t limit_;
  std::size_t used_ = 0;
  std::size_t leaving_ = 0;
  std::size_t evicted_ = 0;
  std::array<client_account*, 64 - min_bits + 1> buckets_{};
};

}  // namespace resp
