// src/io/offloaded_calls.hpp: requests of one backend that threads of the blocking pool perform.
#pragma once

#include <gyre/io/backend.hpp>
#include <gyre/io/file_request.hpp>

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace gyre::io {

/// Hands requests to the pool, and back to the backend's thread when they have ended.
///
/// Thread: the backend's, for all members. Lifetime: call `settle` before this object ends.
class offloaded_calls {
 public:
  explicit offloaded_calls(backend& owner) noexcept : owner_(&owner) {}

  void submit(file_request& r) noexcept;
  /// Ends the request with -ECANCELED if no thread has begun it.
  void cancel(file_request& r) noexcept;
  /// True if there are requests that `take_ended` has not returned yet.
  [[nodiscard]] bool outstanding() const noexcept { return outstanding_ > 0; }
  /// Appends the ended requests, with `result` set.
  void take_ended(ready_list& list) noexcept;
  /// Waits until all requests have ended, and appends those that `take_ended` has not returned.
  void settle(ready_list& list) noexcept;

 private:
  static void run_on_thread(blocking_job& job) noexcept;
  void append(file_request& r, int result) noexcept;

  backend* owner_;
  std::size_t outstanding_ = 0;

  std::mutex mutex_;
  std::condition_variable ended_one_;
  ready_list ended_;             // guarded by mutex_
  std::size_t ended_count_ = 0;  // guarded by mutex_
};

}  // namespace gyre::io
