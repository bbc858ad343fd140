// src/io/multishot_line.hpp: multishots that wait for something that the kernel does not report.
#pragma once

#include <gyre/io/request.hpp>

#include <utility>

namespace gyre::io {

/// First-in, first-out line of multishots. Intrusive. The link is not `next`, because a multishot may be in the ready
/// list at the same time.
class multishot_line {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  void push_back(multishot& m) noexcept {
    m.next_in_line = nullptr;
    (first_ == nullptr ? first_ : last_->next_in_line) = &m;
    last_ = &m;
  }

  /// Takes the first. The line must not be empty.
  multishot& pop_front() noexcept {
    multishot& m = *first_;
    first_ = m.next_in_line;
    return m;
  }

  /// Takes everything.
  multishot_line take_all() noexcept { return std::exchange(*this, {}); }

  /// Removes one multishot. O(length).
  void remove(const multishot& m) noexcept {
    multishot_line all = take_all();
    while (!all.empty())
      if (multishot& each = all.pop_front(); &each != &m) push_back(each);
  }

 private:
  multishot* first_ = nullptr;
  multishot* last_ = nullptr;
};

}  // namespace gyre::io
