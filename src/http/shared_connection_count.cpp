// src/http/shared_connection_count.cpp: counting under a lock, which is taken twice in the life of a connection.
#include <gyre/http/shared_connection_count.hpp>

namespace gyre::http {

bool shared_connection_count::add(std::size_t at_most) noexcept {
  const std::scoped_lock lock(mutex_);
  if (all_ >= at_most) return false;
  ++all_;
  return true;
}

void shared_connection_count::remove() noexcept {
  const std::scoped_lock lock(mutex_);
  --all_;
}

bool shared_connection_count::add(const std::string& host, std::size_t at_most) {
  const std::scoped_lock lock(mutex_);
  if (at_most == 0) return false;
  std::size_t& count = of_host_[host];  // a host that is there has at least one
  if (count >= at_most) return false;
  ++count;
  return true;
}

void shared_connection_count::remove(const std::string& host) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = of_host_.find(host);
  if (--found->second == 0) of_host_.erase(found);
}

}  // namespace gyre::http
