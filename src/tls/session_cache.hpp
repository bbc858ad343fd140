// src/tls/session_cache.hpp: the sessions that clients may resume, by origin.
#pragma once

#include "openssl.hpp"

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gyre::tls {

using session_owner = owned<SSL_SESSION*, &SSL_SESSION_free>;

/// Thread: any.
class session_cache {
 public:
  /// Keeps a session for the next connections to `origin`.
  void add(const std::string& origin, session_owner session);
  /// The newest session for `origin` that is_fresh(), or null. A session of TLS 1.3 is used once: RFC 8446 §C.4.
  [[nodiscard]] session_owner take(const std::string& origin, std::chrono::seconds lifetime);

 private:
  static constexpr std::size_t max_origins = 1024;
  static constexpr std::size_t max_per_origin = 4;
  struct entry {
    std::string origin;
    std::list<session_owner> sessions;  // the newest first
  };

  std::mutex mutex_;
  std::list<entry> entries_;  // the last used first
  std::unordered_map<std::string_view, std::list<entry>::iterator> by_origin_;
};

}  // namespace gyre::tls
