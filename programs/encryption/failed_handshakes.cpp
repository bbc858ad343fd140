// programs/encryption/failed_handshakes.cpp: counts the TLS handshakes that fail, and logs some of them.
#include "programs/encryption/failed_handshakes.hpp"

#include <gyre/io/printable.hpp>
#include <gyre/loop/sleep.hpp>

#include <chrono>
#include <utility>

namespace programs {
namespace {

constexpr std::uint64_t max_lines = 10;  // in a minute

}  // namespace

void failed_handshakes::handshake_failed(const gyre::http::failed_handshake& what) noexcept {
  all_.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    if (++in_minute_ > max_lines) return;
  }
  try {
    gyre::print_diagnostic({"TLS handshake with ", what.peer.string(), " failed: ", what.reason});
  } catch (...) {  // no memory for the address
    gyre::print_diagnostic({"a TLS handshake failed: ", what.reason});
  }
}

gyre::task<> failed_handshakes::count_minutes() {
  for (;;) {
    co_await gyre::sleep(std::chrono::minutes(1));
    end_minute();
  }
}

void failed_handshakes::end_minute() noexcept {
  std::uint64_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    count = std::exchange(in_minute_, 0);
  }
  if (count > max_lines)
    gyre::print_diagnostic({std::to_string(count - max_lines), " more TLS handshakes failed within the same minute"});
}

std::string failed_handshakes::metrics() const {
  return "# HELP tls_handshakes_failed_total Handshakes of clients that did not succeed.\n"
         "# TYPE tls_handshakes_failed_total counter\n"
         "tls_handshakes_failed_total " +
         std::to_string(all_.load(std::memory_order_relaxed)) + "\n";
}

}  // namespace programs
