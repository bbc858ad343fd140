// programs/resp_server/client_memory.hpp: the memory of all clients' requests and replies, and the largest clients.
#pragma once

#include "programs/resp_server/figures.hpp"

#include <cstddef>
#include <set>
#include <utility>

namespace resp {

class client_memory;

/// The buffers of one client. Lifetime: the client_memory must outlive it.
class client_account {
 public:
  using end_client = void (*)(client_account&) noexcept;

  /// `end` is called when the client is evicted. It makes the client destroy this account, but not during the call.
  client_account(client_memory& memory, end_client end) noexcept : memory_(memory), end_(end) {}
  client_account& operator=(client_account&&) = delete;
  ~client_account();

  /// Sets the number of bytes that the client's buffers now take. Errors: std::bad_alloc, with nothing changed.
  void set(std::size_t bytes);
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool evicted() const noexcept { return evicted_; }

 private:
  friend class client_memory;

  client_memory& memory_;
  end_client end_;
  std::size_t bytes_ = 0;
  bool evicted_ = false;
};

/// Adds up the memory of the clients of a loop, and evicts the largest ones when others lack memory, like
/// maxmemory-clients of Redis.
class client_memory {
 public:
  client_memory(shard_figures& figures, std::size_t limit) noexcept : figures_(figures), limit_(limit) {}
  client_memory& operator=(client_memory&&) = delete;

  /// Evicts clients that hold more than `asking` would with `bytes` in total, until that fits. Returns false when it
  /// cannot fit. Evicted clients release their memory a little later: until then, the total may be twice the limit.
  bool make_room(const client_account& asking, std::size_t bytes) noexcept;

  /// Evicts the largest clients until the limit is met.
  void keep_limit() noexcept;

 private:
  friend class client_account;

  static constexpr std::size_t large = std::size_t{32} << 10U;  // smaller clients are not evicted

  void evict(client_account& one) noexcept;

  shard_figures& figures_;
  std::size_t limit_;
  std::size_t used_ = 0;
  std::size_t leaving_ = 0;  // held by evicted clients
  std::set<std::pair<std::size_t, client_account*>> large_;
};

}  // namespace resp
