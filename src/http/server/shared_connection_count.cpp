// src/http/server/shared_connection_count.cpp: counts under a lock that each connection takes twice.
#include <gyre/http/shared_connection_count.hpp>
#include <gyre/io/random_bytes.hpp>

#include "exchange/client_network.hpp"

#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gyre::http {
namespace {

// Unpredictable: the owner of an IPv6 range could otherwise choose networks that collide in the table.
struct secret_hash {
  std::uint64_t secret = io::random_secret();
  std::size_t operator()(const client_network& from) const noexcept {
    constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15;
    std::uint64_t bits = (from.high ^ secret) * odd;
    bits = (bits ^ bits >> 32U ^ from.low ^ (secret << 1U)) * odd;
    return static_cast<std::size_t>(bits ^ bits >> 29U);
  }
};

}  // namespace

struct shared_connection_count::counts {
  using table = std::unordered_map<client_network, std::size_t, secret_hash>;
  static constexpr std::size_t max_spare = 64;

  counts() { spare.reserve(max_spare); }
  std::size_t& of(const client_network& from) {
    if (const auto found = of_network.find(from); found != of_network.end()) return found->second;
    if (spare.empty()) return of_network[from];
    table::node_type used = std::move(spare.back());
    spare.pop_back();
    used.key() = from;
    used.mapped() = 0;
    return of_network.insert(std::move(used)).position->second;
  }

  std::mutex mutex;
  std::size_t all = 0;
  table of_network;
  std::vector<table::node_type> spare;  // reused, so that connections that come and go allocate nothing
};

shared_connection_count::shared_connection_count() : counts_(new counts) {}
shared_connection_count::~shared_connection_count() { delete counts_; }

bool shared_connection_count::add(std::size_t max_connections) noexcept {
  const std::scoped_lock lock(counts_->mutex);
  if (counts_->all >= max_connections) return false;
  ++counts_->all;
  return true;
}

void shared_connection_count::remove() noexcept {
  const std::scoped_lock lock(counts_->mutex);
  --counts_->all;
}

std::size_t shared_connection_count::size() const noexcept {
  const std::scoped_lock lock(counts_->mutex);
  return counts_->all;
}

bool shared_connection_count::add(const address& peer, std::size_t max_connections) noexcept {
  const std::scoped_lock lock(counts_->mutex);
  if (max_connections == 0) return false;
  try {
    std::size_t& count = counts_->of(network_of(peer));  // an existing entry counts at least one
    if (count >= max_connections) return false;
    ++count;
    return true;
  } catch (const std::bad_alloc&) {  // without memory to count it, there is none to serve it
    return false;
  }
}

void shared_connection_count::remove(const address& peer) noexcept {
  const std::scoped_lock lock(counts_->mutex);
  const auto found = counts_->of_network.find(network_of(peer));
  if (--found->second > 0) return;
  if (counts_->spare.size() < counts::max_spare)
    counts_->spare.push_back(counts_->of_network.extract(found));
  else
    counts_->of_network.erase(found);
}

}  // namespace gyre::http
