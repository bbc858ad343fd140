// programs/resp_server/entry_list.hpp: all entries from newest to oldest, and cursors that survive changes.
#pragma once

#include "programs/resp_server/entry.hpp"

namespace resp {

class entry_cursor;

/// Links the entries of a keyspace in the order in which they were added. Does not own them.
class entry_list {
 public:
  entry_list() noexcept = default;
  entry_list(const entry_list&) = delete;
  entry_list& operator=(const entry_list&) = delete;

  void push_front(entry& item) noexcept;
  void remove(entry& item) noexcept;  ///< cursors at it move on to the next older entry
  void clear() noexcept;              ///< does not touch the entries; cursors are then at the end

 private:
  friend class entry_cursor;
  entry* newest_ = nullptr;
  entry_cursor* cursors_ = nullptr;
};

/// Visits once every entry that exists now and is not removed before its turn. Entries added later are not visited. The
/// keyspace may be changed in any way between two steps.
///
/// Lifetime: the list must outlive it.
class entry_cursor {
 public:
  explicit entry_cursor(entry_list& list) noexcept;
  entry_cursor(const entry_cursor&) = delete;
  entry_cursor& operator=(const entry_cursor&) = delete;
  ~entry_cursor();

  /// The current entry; null at the end.
  [[nodiscard]] entry* at() const noexcept { return at_; }
  void advance() noexcept { at_ = at_->second.older; }

 private:
  friend class entry_list;
  entry_list& list_;
  entry* at_;
  entry_cursor* next_;
};

}  // namespace resp
