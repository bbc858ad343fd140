// src/io/large_turn.hpp: how much large receives may move before small transfers have their turn.
#pragma once

#include <gyre/io/request.hpp>

#include "multishot_line.hpp"

#include <utility>

namespace gyre::io {

/// Large receives that had to stop although more was available. Each `wait` of a backend serves them, first come, first
/// served, until its share of bytes is used up.
class large_turn {
 public:
  /// The limit for one descriptor before the next has its turn.
  static constexpr int max_receives = 2;

  [[nodiscard]] bool empty() const noexcept { return line_.empty(); }
  /// True when the share of this turn has been used up.
  [[nodiscard]] bool is_over() const noexcept { return left_ <= 0; }
  void count(int bytes) noexcept { left_ -= bytes; }
  /// True when bytes were moved in this turn. That took so long that the kernel should be asked for small ones.
  [[nodiscard]] bool has_moved() const noexcept { return left_ < share; }
  void push_back(multishot& m) noexcept { line_.push_back(m); }
  multishot& pop_front() noexcept { return line_.pop_front(); }
  /// One of the line may have been cancelled: it ends in the next turn, whatever its place.
  void note_cancel() noexcept { some_cancelled_ = true; }

  /// Begins a turn. Calls `go_on(multishot&)`, which may put the multishot back into the line.
  template <class F>
  void serve(F go_on) {
    left_ = share;
    if (std::exchange(some_cancelled_, false)) {
      for (multishot_line all = line_.take_all(); !all.empty();) {
        multishot& m = all.pop_front();
        m.cancel_requested ? go_on(m) : line_.push_back(m);
      }
    }
    while (!line_.empty() && !is_over()) go_on(line_.pop_front());
  }

 private:
  static constexpr int share = 128 * 1024;

  multishot_line line_;
  int left_ = share;
  bool some_cancelled_ = false;
};

}  // namespace gyre::io
