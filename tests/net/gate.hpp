// tests/net/gate.hpp: a resolver that answers when the test allows it.
#pragma once

#include <gyre/net/resolver.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

namespace gyre_test {

/// Resolves "host-7.test" to 10.0.0.7, so that a result that reaches the wrong task is noticed.
inline gyre::lookup_result look_up_at_once(const std::string& host) {
  const int number = std::stoi(host.substr(5));
  const std::string found = "10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256);
  return {{gyre::address::parse(found, 0).value()}, {}};
}

/// The same, but a lookup that has begun ends only once the gate is open.
class gate {
 public:
  static gyre::lookup_result look_up(const std::string& host) {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [] { return open_; });
    ++ended_;
    changed_.notify_all();
    return look_up_at_once(host);
  }
  static void close() {
    const std::scoped_lock lock(mutex_);
    open_ = false;
    begun_ = ended_ = 0;
  }
  static void open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  static int begun() {
    const std::scoped_lock lock(mutex_);
    return begun_;
  }
  static int ended() {
    const std::scoped_lock lock(mutex_);
    return ended_;
  }
  static bool wait_until_ended(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [count] { return ended_ >= count; });
  }

 private:
  static inline std::mutex mutex_;
  static inline std::condition_variable changed_;
  static inline bool open_ = true;
  static inline int begun_ = 0;
  static inline int ended_ = 0;
};

}  // namespace gyre_test
