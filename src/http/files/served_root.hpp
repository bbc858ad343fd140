// src/http/files/served_root.hpp: the directory of static files, which is followed when it is replaced.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/loop/event_loop.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace gyre::http {

/// A directory that was opened. Requests that use it share it, so it stays open until the last of them has ended.
struct opened_root {
  owned_fd descriptor;
  std::uint64_t number = 0;  // unique among all roots of the program: what is kept of one is not taken for another's
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

/// A path, and the directory that it leads to. A deployment swaps a link or replaces the directory: its path is opened
/// again when the last time was a second ago, and when a file is missing. As long as the path leads nowhere, the
/// directory that it led to stays in use.
///
/// Thread: any, at the same time.
class served_root {
 public:
  using opened = std::shared_ptr<const opened_root>;

  /// Errors: io_error "open public: No such file or directory".
  explicit served_root(std::string_view path);

  /// Returns the number of the current directory.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_.load(std::memory_order_relaxed); }
  /// Returns true if the path has to be opened again.
  [[nodiscard]] bool is_due() const noexcept {
    return event_loop::current().recent() >= due_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] opened current() const;
  /// Opens the path again, and returns the directory that is current then. Cancel: nothing has changed.
  [[nodiscard]] task<opened> look_again();

 private:
  static constexpr io::monotonic_time interval = 1'000'000'000;

  void replace(opened_root&& with);

  std::string path_;  // absolute
  std::atomic<std::uint64_t> number_ = 0;
  std::atomic<io::monotonic_time> due_ = 0;
  mutable std::mutex mutex_;
  opened current_;
};

}  // namespace gyre::http
