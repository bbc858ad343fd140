// src/client/name_cache.cpp: one lookup for all requests that want a name.
#include "name_cache.hpp"

#include <gyre/loop/event_loop.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::size_t max_names = 1000;

}  // namespace

// The lock keeps the others waiting. When this lookup is cancelled or fails, the next one of them does its own.
task<std::vector<address>> name_cache::find(std::string_view host, std::uint16_t port, resolve_options options,
                                            std::chrono::nanoseconds age) {
  if (age <= std::chrono::nanoseconds::zero() || address::parse(host, port))
    co_return co_await resolve(host, port, options);
  auto found = names_.find(host);
  if (found == names_.end()) {
    make_room();
    found = names_.emplace(host, std::make_shared<entry>()).first;
  }
  const std::shared_ptr<entry> its = found->second;
  event_loop& loop = event_loop::current();
  if (loop.now() >= its->until) {
    const mutex_guard one = co_await its->looking.scoped_lock();
    if (loop.now() >= its->until) {
      its->addresses = co_await resolve(host, port, options);
      const io::monotonic_time now = loop.now();
      its->until = now + std::min<io::monotonic_time>(age.count(), io::wait_forever - now);
    }
  }
  std::vector<address> all;
  all.reserve(its->addresses.size());
  for (const address& each : its->addresses) all.push_back(each.with_port(port));
  co_return all;
}

void name_cache::forget(std::string_view host) noexcept {
  const auto found = names_.find(host);
  if (found != names_.end()) found->second->until = 0;
}

void name_cache::make_room() {
  if (names_.size() < max_names) return;
  const io::monotonic_time now = event_loop::current().now();
  std::erase_if(names_, [&](const auto& each) { return each.second->until <= now; });
  if (names_.size() >= max_names) names_.erase(names_.begin());
}

}  // namespace gyre::http
