// src/client/shared_retry_budget.cpp: a number that requests raise and retries lower.
#include <gyre/client/shared_retry_budget.hpp>

#include <algorithm>
#include <atomic>

namespace gyre::http {
namespace {

constexpr int one_retry = 100;
constexpr int max_budget = 100 * one_retry;

}  // namespace

// A full budget is only read, so that loops whose requests succeed do not contend for it.
void shared_retry_budget::add_request(unsigned percent) noexcept {
  const std::atomic_ref all(hundredths_);
  const int added = static_cast<int>(std::min<unsigned>(percent, max_budget));
  int now = all.load(std::memory_order_relaxed);
  while (now < max_budget &&
         !all.compare_exchange_weak(now, std::min(now + added, max_budget), std::memory_order_relaxed)) {
  }
}

bool shared_retry_budget::take() noexcept {
  const std::atomic_ref all(hundredths_);
  int now = all.load(std::memory_order_relaxed);
  while (now >= one_retry)
    if (all.compare_exchange_weak(now, now - one_retry, std::memory_order_relaxed)) return true;
  return false;
}

}  // namespace gyre::http
