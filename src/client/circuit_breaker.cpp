// src/client/circuit_breaker.cpp: counts the failures of each origin.
#include <gyre/client/circuit_breaker.hpp>

#include <gyre/client/client_error.hpp>
#include <gyre/loop/event_loop.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

namespace gyre::http {
namespace {

struct circuit {
  unsigned failures = 0;
  io::monotonic_time closed_until = 0;
  bool trying = false;  // one request finds out
};

/// The one request that may find out. Also when it is cancelled, another may.
class trial {
 public:
  explicit trial(circuit& of, bool needed) noexcept : of_(of), needed_(needed) {
    if (needed_) of_.trying = true;
  }
  trial& operator=(trial&&) = delete;
  ~trial() {
    if (needed_) of_.trying = false;
  }

 private:
  circuit& of_;
  bool needed_;
};

class breaker {
 public:
  explicit breaker(const circuit_breaker_options& options) : options_(options) {}

  task<client_response> operator()(client_request request, next_sender next) {
    circuit& its = circuits_[std::string(request.url().origin())];
    const bool paused = its.failures >= options_.failures;
    if (paused && (its.trying || event_loop::current().now() < its.closed_until))
      throw client_error(client_errc::circuit_open, request.method(), request.url().without_fragment());
    const trial one(its, paused);
    bool failed = true;
    try {
      auto sending = next(std::move(request));
      auto response = co_await std::move(sending);
      failed = response.status() >= 500;
      count(its, failed);
      co_return response;
    } catch (const io_error&) {
      if (failed) count(its, true);
      throw;
    }
  }

 private:
  void count(circuit& its, bool failed) {
    if (!failed) {
      its.failures = 0;
      return;
    }
    its.failures = std::min(its.failures + 1, options_.failures);
    its.closed_until = event_loop::current().now() + options_.pause.count();
  }

  circuit_breaker_options options_;
  std::unordered_map<std::string, circuit> circuits_;  // its values never move
};

}  // namespace

client_middleware circuit_breaker(circuit_breaker_options options) {
  if (options.failures == 0) throw std::invalid_argument("circuit_breaker: failures must be at least 1");
  return breaker(options);
}

}  // namespace gyre::http
