// programs/resp_server/entry_list.cpp: all entries from newest to oldest, and cursors that survive changes.
#include "programs/resp_server/entry_list.hpp"

namespace resp {

void entry_list::push_front(entry& item) noexcept {
  item.second.newer = nullptr;
  item.second.older = newest_;
  if (newest_ != nullptr) newest_->second.newer = &item;
  newest_ = &item;
}

void entry_list::remove(entry& item) noexcept {
  entry* const newer = item.second.newer;
  entry* const older = item.second.older;
  for (entry_cursor* each = cursors_; each != nullptr; each = each->next_)
    if (each->at_ == &item) each->at_ = older;
  if (older != nullptr) older->second.newer = newer;
  (newer == nullptr ? newest_ : newer->second.older) = older;
}

void entry_list::clear() noexcept {
  newest_ = nullptr;
  for (entry_cursor* each = cursors_; each != nullptr; each = each->next_) each->at_ = nullptr;
}

entry_cursor::entry_cursor(entry_list& list) noexcept : list_(list), at_(list.newest_), next_(list.cursors_) {
  list.cursors_ = this;
}

entry_cursor::~entry_cursor() {
  entry_cursor** link = &list_.cursors_;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

}  // namespace resp
