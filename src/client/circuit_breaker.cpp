// src/client/circuit_breaker.cpp: counts the failures of each origin that fails.
#include <gyre/client/circuit_breaker.hpp>

#include <gyre/client/client_error.hpp>
#include <gyre/coro/scope_exit.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/event_loop.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

namespace gyre::http {
namespace {

struct circuit {
  unsigned failures = 0;
  io::monotonic_time paused_until = 0;
  bool trying = false;  // one request finds out
};

// The circuits of the clients of all loops.
class circuits {
 public:
  enum class passage : std::uint8_t { open, trial, closed };

  explicit circuits(const circuit_breaker_options& options) noexcept : options_(options) {}

  [[nodiscard]] passage enter(const std::string& origin, io::monotonic_time now) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto found = failing_.find(origin);
    if (found == failing_.end() || found->second.failures < options_.failures) return passage::open;
    if (found->second.trying || now < found->second.paused_until) return passage::closed;
    found->second.trying = true;
    return passage::trial;
  }

  void count(const std::string& origin, bool failed, bool is_trial, io::monotonic_time now) {
    const std::scoped_lock lock(mutex_);
    if (!failed) {  // only the trial ends a pause, not a request that began before it
      const auto found = failing_.find(origin);
      if (found != failing_.end() && (is_trial || found->second.failures < options_.failures)) failing_.erase(found);
      return;
    }
    constexpr std::size_t many = 10'000;
    if (failing_.size() >= many)
      std::erase_if(failing_, [&](const auto& each) { return each.second.paused_until < now && !each.second.trying; });
    circuit& its = failing_[origin];
    its.failures = std::min(its.failures + 1, options_.failures);
    its.paused_until = deadline_after(options_.pause);
  }

  /// Another request may find out, also when the one that tried was cancelled.
  void end_trial(const std::string& origin) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto found = failing_.find(origin);
    if (found != failing_.end()) found->second.trying = false;
  }

 private:
  const circuit_breaker_options options_;
  std::mutex mutex_;  // guards the map; held for a look only
  std::unordered_map<std::string, circuit> failing_;
};

class breaker {
 public:
  explicit breaker(const circuit_breaker_options& options) : circuits_(std::make_unique<circuits>(options)) {}

  task<client_response> operator()(client_request request, next_sender next) {
    const std::string origin(request.url().origin());
    const auto passage = circuits_->enter(origin, event_loop::current().now());
    if (passage == circuits::passage::closed)
      throw client_error(client_errc::circuit_open, request.method(), request.url().without_fragment());
    const bool is_trial = passage == circuits::passage::trial;
    const scope_exit ended([&] {
      if (is_trial) circuits_->end_trial(origin);
    });
    bool failed = true;
    try {
      auto sending = next(std::move(request));
      auto response = co_await std::move(sending);
      failed = response.status() >= 500;
      circuits_->count(origin, failed, is_trial, event_loop::current().now());
      co_return response;
    } catch (const io_error&) {
      if (failed) circuits_->count(origin, true, is_trial, event_loop::current().now());
      throw;
    }
  }

 private:
  std::unique_ptr<circuits> circuits_;
};

}  // namespace

client_middleware circuit_breaker(circuit_breaker_options options) {
  if (options.failures == 0) throw std::invalid_argument("circuit_breaker: failures must be at least 1");
  if (options.pause < std::chrono::nanoseconds::zero())
    throw std::invalid_argument("circuit_breaker: pause is negative");
  return breaker(options);
}

}  // namespace gyre::http
