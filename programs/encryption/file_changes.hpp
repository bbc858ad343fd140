// programs/encryption/file_changes.hpp: notices that files have been replaced or written to.
#pragma once

#include <gyre/coro/task.hpp>

#include <string>
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

  /// Takes the present state as known. Called before the files are read, so that a later change is noticed. May be
  /// called on another thread, but not during wait().
  void remember() { known_ = state(); }

 private:
  [[nodiscard]] std::string state() const;
  [[nodiscard]] std::vector<std::string> directories() const;
  gyre::task<> wait_for_a_hint() const;

  std::vector<std::string> files_;
  std::string known_;
};

}  // namespace programs
