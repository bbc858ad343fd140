// src/client/client_state.hpp: the connections of a client, and the memory of its requests.
#pragma once

#include <gyre/client/client.hpp>
#include <gyre/loop/owner_loop.hpp>
#include <gyre/loop/timer_wheel.hpp>
#include <gyre/sync/semaphore.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client_connection.hpp"
#include "name_cache.hpp"
#include "request_text.hpp"
#include "text_map.hpp"

namespace gyre::http {

class client_exchange;

/// A scheme, host and port, and the connections to it. A request that uses a connection has a slot. A new connection is
/// made only when there is a slot and no idle connection, so there are never more of them than slots.
struct origin {
  origin(std::string_view name, std::size_t limit) : key(name), slots(limit) {}

  std::string key;
  counting_semaphore slots;
  std::vector<client_connection*> idle;  // the last one was used last
  std::size_t users = 0;                 // requests that have a slot or wait for one
  std::size_t waiting = 0;
};

class client_state final : public idle_connections, private timer {
 public:
  explicit client_state(client_options options);
  client_state& operator=(client_state&&) = delete;

  void add_reference() noexcept { ++references_; }
  void release() noexcept;
  /// The client is gone.
  void close() noexcept;
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  [[nodiscard]] const client_options& options() const noexcept { return options_; }
  [[nodiscard]] const client_fields& fields() const noexcept { return fields_; }
  [[nodiscard]] const tls::client_config& tls_config();
  /// The same without the client's certificate.
  [[nodiscard]] const tls::client_config& tls_config_without_identity();

  /// The request becomes a user of the origin.
  origin& join(std::string_view name);
  void leave(origin& left) noexcept;

  /// An idle connection that is probably good, or null. To be unwatched.
  [[nodiscard]] client_connection* pop_idle(origin& from) noexcept;
  /// Keeps a connection for at most `limit`, or discards it.
  void keep(origin& at, connection_owner kept, std::chrono::nanoseconds limit) noexcept;
  void drop(client_connection& ended) noexcept override;
  void close_idle() noexcept;

  [[nodiscard]] client_exchange& take_exchange();
  void give_back(client_exchange& used) noexcept;

  /// Counts a request or a retry. A retry is refused when the budget is used up.
  void count_request() noexcept { budget_.add_request(options_.retries.budget_percent); }
  [[nodiscard]] bool may_retry() noexcept { return budget_.take(); }
  /// A number from 0 to 1, for waits.
  [[nodiscard]] double random() noexcept;
  [[nodiscard]] client_counts counts() const noexcept;
  owner_loop owner;
  cookie_jar cookies;
  name_cache names;
  std::vector<client_middleware> middleware;
  std::uint64_t opened = 0;
  std::uint64_t retried = 0;

 private:
  ~client_state();
  void sweep() noexcept;
  void arm_until(io::monotonic_time when) noexcept;
  void discard_oldest() noexcept;

  client_options options_;
  client_fields fields_;
  std::optional<tls::client_config> tls_;
  std::optional<tls::client_config> tls_without_identity_;  // made when it is first needed
  text_map<std::unique_ptr<origin>> origins_;
  std::vector<client_exchange*> free_;
  std::size_t idle_ = 0;
  std::size_t references_ = 1;
  shared_retry_budget own_budget_;
  shared_retry_budget& budget_;
  std::uint64_t random_;
  bool closed_ = false;
};

}  // namespace gyre::http
