// programs/gyre/proxy/upstreams.hpp: the servers behind a proxy, and which of them answers the next request.
#pragma once

#include <gyre/client/url.hpp>
#include <gyre/loop/deadline.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace programs {

enum class balance : std::uint8_t {
  round_robin,
  least_connections,  ///< the server that works on the fewest requests
  two_choices,        ///< of two servers chosen at random, the one with fewer
};

/// Counts of one server, for all loops. Thread: any.
struct upstream_counts {
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> failures{0};
  std::atomic<std::int64_t> running{0};
  std::atomic<std::uint64_t> retries{0};  // requests that another server has answered instead
  std::atomic<int> loops_up{0};
  std::atomic<bool> healthy{true};  // as the last health check of any loop has found it
};

/// The text of all counts, in the format of Prometheus.
[[nodiscard]] std::string upstream_metrics(std::span<const gyre::http::url> urls,
                                           std::span<const upstream_counts> counts);

/// One loop's view of the servers. A server that fails several times in a row is left out for a while, and so is one
/// whose health check fails. When all are left out, all are tried.
class upstreams {
 public:
  struct policy {
    balance how = balance::round_robin;
    unsigned max_failures = 3;  // in a row
    std::chrono::nanoseconds pause = std::chrono::seconds(10);
  };

  /// Lifetime: the arguments must outlive this.
  upstreams(std::span<const gyre::http::url> urls, std::span<upstream_counts> counts, const policy& chosen);
  upstreams& operator=(upstreams&&) = delete;
  ~upstreams();

  static constexpr std::size_t none = ~std::size_t{0};
  [[nodiscard]] std::size_t size() const noexcept { return urls_.size(); }
  [[nodiscard]] const gyre::http::url& url(std::size_t number) const noexcept { return urls_[number]; }

  /// Returns a server that is not among `tried`, or `none`.
  [[nodiscard]] std::size_t choose(std::span<const std::size_t> tried);

  /// A request that a server works on.
  class use {
   public:
    use() noexcept = default;
    use(upstreams& of, std::size_t number) noexcept;
    use(use&& other) noexcept;
    use& operator=(use&& other) noexcept;
    ~use() { end(); }
    /// The server has answered, to the end of the body. No success after a failure: a whole response may be a 503. A
    /// request that is older than the latest pause says nothing about the server's state since then.
    void succeeded() noexcept {
      if (!failed_ && pauses_ == of_->servers_[number_].pauses) of_->note_success(number_);
    }
    /// The server has failed. Counts once.
    void failed() noexcept {
      if (!std::exchange(failed_, true)) of_->note_failure(number_);
    }

   private:
    void end() noexcept;
    upstreams* of_ = nullptr;
    std::size_t number_ = 0;
    std::uint64_t pauses_ = 0;  // of the server when the request began
    bool failed_ = false;
  };

  void note_retry(std::size_t number) noexcept { ++counts_[number].retries; }
  /// The result of a health check. Returns true when it differs from the previous result of any loop.
  bool set_healthy(std::size_t number, bool healthy) noexcept;

 private:
  struct server {
    std::size_t running = 0;
    unsigned failures = 0;
    std::uint64_t pauses = 0;
    gyre::time_point paused_until = {};
    bool healthy = true;
    bool counted_up = true;
  };
  void note_success(std::size_t number) noexcept;
  void note_failure(std::size_t number) noexcept;
  [[nodiscard]] bool is_up(const server& each, gyre::time_point now) const noexcept {
    return each.healthy && each.paused_until <= now;
  }
  void count_up(std::size_t number, bool up) noexcept;
  [[nodiscard]] std::size_t pick(std::span<const std::size_t> from);

  std::span<const gyre::http::url> urls_;
  std::span<upstream_counts> counts_;
  policy policy_;
  std::vector<server> servers_;
  std::vector<std::size_t> candidates_;
  std::size_t next_ = 0;
  std::minstd_rand random_;
};

}  // namespace programs
