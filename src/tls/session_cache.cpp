// src/tls/session_cache.cpp: the sessions that clients may resume.
#include "session_cache.hpp"

#include "session_age.hpp"

#include <ctime>
#include <utility>

namespace gyre::tls {

void session_cache::add(const std::string& origin, session_owner session) {
  const std::lock_guard lock(mutex_);
  const auto known = by_origin_.find(origin);
  if (known != by_origin_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
  } else {
    if (entries_.size() == max_origins) {
      by_origin_.erase(entries_.back().origin);
      entries_.pop_back();
    }
    entries_.push_front({.origin = origin, .sessions = {}});
    by_origin_.emplace(entries_.front().origin, entries_.begin());
  }
  auto& sessions = entries_.front().sessions;
  sessions.push_front(std::move(session));
  if (sessions.size() > max_per_origin) sessions.pop_back();
}

session_owner session_cache::take(const std::string& origin, std::chrono::seconds lifetime) {
  const std::lock_guard lock(mutex_);
  const auto known = by_origin_.find(origin);
  if (known == by_origin_.end()) return {};
  auto& sessions = known->second->sessions;
  while (!sessions.empty()) {
    SSL_SESSION* const newest = sessions.front().get();
    const bool old = SSL_SESSION_get_time(newest) + SSL_SESSION_get_timeout(newest) < std::time(nullptr) ||
                     !is_fresh(*newest, lifetime);
    const bool once = old || SSL_SESSION_get_protocol_version(newest) >= TLS1_3_VERSION;
    if (!once) {
      SSL_SESSION_up_ref(newest);
      return session_owner(newest);
    }
    session_owner taken = std::move(sessions.front());
    sessions.pop_front();
    if (!old && SSL_SESSION_is_resumable(taken.get()) == 1) return taken;
  }
  return {};
}

}  // namespace gyre::tls
