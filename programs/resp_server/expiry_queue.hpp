// programs/resp_server/expiry_queue.hpp: the entries that expire, soonest first.
#pragma once

#include "programs/resp_server/entry.hpp"

#include <cstddef>
#include <vector>

namespace resp {

/// A binary heap whose entries know their position in it, so any of them can be moved or removed
/// in O(log n). Does not own them.
class expiry_queue {
 public:
  /// Sets or changes the time when an entry expires. `when` must not be `never`.
  void set(entry& item, unix_ms when);

  /// Removes an entry, which must be in the queue. After that it never expires.
  void remove(entry& item) noexcept;

  /// The entry that expires next, or nullptr.
  [[nodiscard]] entry* soonest() const noexcept { return heap_.empty() ? nullptr : heap_.front().item; }

  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
  [[nodiscard]] std::size_t allocated_bytes() const noexcept { return heap_.capacity() * sizeof(node); }

  /// Forgets all entries without touching them, and frees the memory.
  void clear() noexcept { std::vector<node>().swap(heap_); }

 private:
  struct node {
    unix_ms when;
    entry* item;
  };

  void settle(std::size_t position, node moved) noexcept;
  void place(std::size_t position, node moved) noexcept;

  std::vector<node> heap_;
};

}  // namespace resp
