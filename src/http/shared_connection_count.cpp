// src/http/shared_connection_count.cpp: counting under a lock, which is taken twice in the life of a connection.
#include <gyre/http/shared_connection_count.hpp>

#include <mutex>
#include <unordered_map>

namespace gyre::http {

struct shared_connection_count::counts {
  std::mutex mutex;
  std::size_t all = 0;
  std::unordered_map<std::string, std::size_t> of_host;
};

shared_connection_count::shared_connection_count() : counts_(new counts) {}
shared_connection_count::~shared_connection_count() { delete counts_; }

bool shared_connection_count::add(std::size_t at_most) noexcept {
  const std::scoped_lock lock(counts_->mutex);
  if (counts_->all >= at_most) return false;
  ++counts_->all;
  return true;
}

void shared_connection_count::remove() noexcept {
  const std::scoped_lock lock(counts_->mutex);
  --counts_->all;
}

bool shared_connection_count::add(const std::string& host, std::size_t at_most) {
  const std::scoped_lock lock(counts_->mutex);
  if (at_most == 0) return false;
  std::size_t& count = counts_->of_host[host];  // a host that is there has at least one
  if (count >= at_most) return false;
  ++count;
  return true;
}

void shared_connection_count::remove(const std::string& host) noexcept {
  const std::scoped_lock lock(counts_->mutex);
  const auto found = counts_->of_host.find(host);
  if (--found->second == 0) counts_->of_host.erase(found);
}

}  // namespace gyre::http
