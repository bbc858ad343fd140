// src/client/circuit_breaker.cpp: counts the failures of each origin that fails.
#include <gyre/client/circuit_breaker.hpp>

#include <gyre/client/client_error.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/owner_loop.hpp>

#include <algorithm>
#include <cstddef>
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

class breaker {
 public:
  explicit breaker(const circuit_breaker_options& options) : options_(options) {}

  task<client_response> operator()(client_request request, next_sender next) {
    owner_.expect_own("a request");
    const std::string origin(request.url().origin());
    const auto found = failing_.find(origin);
    const bool paused = found != failing_.end() && found->second.failures >= options_.failures;
    if (paused && (found->second.trying || event_loop::current().now() < found->second.paused_until))
      throw client_error(client_errc::circuit_open, request.method(), request.url().without_fragment());
    const trial one(*this, origin, paused);
    bool failed = true;
    try {
      auto sending = next(std::move(request));
      auto response = co_await std::move(sending);
      failed = response.status() >= 500;
      count(origin, failed, paused);
      co_return response;
    } catch (const io_error&) {
      if (failed) count(origin, true, paused);
      throw;
    }
  }

 private:
  /// The one request that may find out. Also when it is cancelled, another may.
  class trial {
   public:
    trial(breaker& of, const std::string& origin, bool needed) noexcept : of_(of), origin_(origin), needed_(needed) {
      set(needed);
    }
    trial& operator=(trial&&) = delete;
    ~trial() { set(false); }

   private:
    void set(bool trying) noexcept {
      const auto found = needed_ ? of_.failing_.find(origin_) : of_.failing_.end();
      if (found != of_.failing_.end()) found->second.trying = trying;
    }
    breaker& of_;
    const std::string& origin_;
    bool needed_;
  };

  void count(const std::string& origin, bool failed, bool is_trial) {
    if (!failed) {  // only the trial ends a pause, not a request that began before it
      const auto found = failing_.find(origin);
      if (found != failing_.end() && (is_trial || found->second.failures < options_.failures)) failing_.erase(found);
      return;
    }
    const io::monotonic_time now = event_loop::current().now();
    constexpr std::size_t many = 10'000;
    if (failing_.size() >= many)
      std::erase_if(failing_, [&](const auto& each) { return each.second.paused_until < now && !each.second.trying; });
    circuit& its = failing_[origin];
    its.failures = std::min(its.failures + 1, options_.failures);
    its.paused_until = now + options_.pause.count();
  }

  circuit_breaker_options options_;
  owner_loop_of<"a circuit_breaker"> owner_;
  std::unordered_map<std::string, circuit> failing_;
};

}  // namespace

client_middleware circuit_breaker(circuit_breaker_options options) {
  if (options.failures == 0) throw std::invalid_argument("circuit_breaker: failures must be at least 1");
  if (options.pause < std::chrono::nanoseconds::zero())
    throw std::invalid_argument("circuit_breaker: pause is negative");
  return breaker(options);
}

}  // namespace gyre::http
