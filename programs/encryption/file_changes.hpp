// programs/encryption/file_changes.hpp: notices that files have been replaced or written to.
#pragma once

#include <gyre/coro/task.hpp>

#include <string>
#include <utility>
#include <vector>

namespace programs {

/// Watches a few files, also when they are reached through symbolic links. While nothing changes, it looks at them once
/// a minute; where inotify(7) is not available, every two seconds.
class file_changes {
 public:
  /// Takes the present state of the files as known.
  explicit file_changes(std::vector<std::string> files);

  /// Waits until the files differ from the known state and have come to rest: programs that renew certificates write
  /// several files. Cancel: nothing is lost.
  [[nodiscard]] gyre::task<> wait();

  /// Takes this state as known. Must not be called during wait().
  void remember(std::string state) noexcept { known_ = std::move(state); }

  /// The present state of these files. Read it before the files, so that a later change is noticed. It waits for the
  /// disk. Thread: any.
  [[nodiscard]] static std::string state_of(const std::vector<std::string>& files);

 private:
  gyre::task<> wait_for_a_hint() const;

  std::vector<std::string> files_;
  std::string known_;
};

}  // namespace programs
