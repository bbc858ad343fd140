// src/client/name_cache.hpp: the addresses of hosts, for a while.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/backend.hpp>
#include <gyre/net/resolver.hpp>
#include <gyre/sync/mutex.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "text_map.hpp"

namespace gyre::http {

/// Requests that look for the same name at the same time share one lookup.
class name_cache {
 public:
  /// The addresses of a host, from an earlier lookup that is younger than `age`, or from a new one.
  task<std::vector<address>> find(std::string_view host, std::uint16_t port, resolve_options options,
                                  std::chrono::nanoseconds age);
  /// No address of this host works: it may have others by now.
  void forget(std::string_view host) noexcept;

 private:
  struct entry {
    mutex looking;
    std::vector<address> addresses;
    io::monotonic_time until = 0;
  };
  void make_room();

  text_map<std::shared_ptr<entry>> names_;
};

}  // namespace gyre::http
