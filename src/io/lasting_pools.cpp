// src/io/lasting_pools.cpp: the pools of the process, which are never destroyed.
#include <gyre/io/blocking_pool.hpp>

#include "pool_state.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>

namespace gyre::io {

class lasting_pools {
 public:
  static blocking_pool& make(std::size_t max_threads) {
    auto* const made = new entry{.pool = blocking_pool(max_threads), .next = all_};
    while (!all_.compare_exchange_weak(made->next, made)) {
    }
    return made->pool;
  }

  static void join() noexcept {
    for (entry* each = all_; each != nullptr; each = each->next) each->pool.join();
  }

  lasting_pools() = default;
  lasting_pools& operator=(lasting_pools&&) = delete;
  /// When the process ends, or a plugin with this code is unloaded.
  ~lasting_pools() {
    for (entry* each = all_; each != nullptr; each = each->next) each->pool.state_->join_without_waiting();
  }

 private:
  struct entry {
    blocking_pool pool;
    entry* next = nullptr;
  };
  static constinit std::atomic<entry*> all_;
};

constinit std::atomic<lasting_pools::entry*> lasting_pools::all_ = nullptr;

namespace {

// The number of usable cores, if that is more.
std::size_t at_least(std::size_t threads) noexcept {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  const int cores = ::sched_getaffinity(0, sizeof(usable), &usable) == 0 ? CPU_COUNT(&usable) : 1;
  return std::max(threads, static_cast<std::size_t>(cores));
}

const lasting_pools at_exit;

// Made before main begins. If a thread called fork while another one made a pool, the pool would stay half made in the
// child, which would wait for it for ever.
[[maybe_unused]] const blocking_pool* const made_at_start[] = {&blocking_pool::for_calls(), &blocking_pool::for_files(),
                                                               &blocking_pool::for_names()};

}  // namespace

blocking_pool& blocking_pool::for_calls() {
  static blocking_pool& pool = make_lasting(at_least(64));
  return pool;
}

blocking_pool& blocking_pool::for_files() {
  static blocking_pool& pool = make_lasting(at_least(16));
  return pool;
}

blocking_pool& blocking_pool::for_names() {
  static blocking_pool& pool = make_lasting(at_least(16));
  return pool;
}

blocking_pool& blocking_pool::make_lasting(std::size_t max_threads) { return lasting_pools::make(max_threads); }

void blocking_pool::join_lasting() noexcept { lasting_pools::join(); }

}  // namespace gyre::io
