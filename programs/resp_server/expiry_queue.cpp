// programs/resp_server/expiry_queue.cpp: the entries that expire, soonest first.
#include "programs/resp_server/expiry_queue.hpp"

namespace resp {

void expiry_queue::set(entry& item, unix_ms when) {
  if (item.second.expires_at == never) {
    heap_.push_back({when, &item});
    item.second.queue_position = heap_.size() - 1;
  }
  item.second.expires_at = when;
  settle(item.second.queue_position, {when, &item});
}

void expiry_queue::remove(entry& item) noexcept {
  const std::size_t hole = item.second.queue_position;
  item.second.expires_at = never;
  const node last = heap_.back();
  heap_.pop_back();
  if (hole < heap_.size()) settle(hole, last);
  // Capacity is not kept for ever: the memory counts against the limit of the keyspace.
  if (heap_.capacity() > 1024 && heap_.size() < heap_.capacity() / 16) heap_.shrink_to_fit();
}

// Moves `moved` to its place, starting at a position whose node may be overwritten.
void expiry_queue::settle(std::size_t position, node moved) noexcept {
  while (position != 0) {
    const std::size_t parent = (position - 1) / 2;
    if (heap_[parent].when <= moved.when) break;
    place(position, heap_[parent]);
    position = parent;
  }
  for (;;) {
    std::size_t child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].when < heap_[child].when) ++child;
    if (heap_[child].when >= moved.when) break;
    place(position, heap_[child]);
    position = child;
  }
  place(position, moved);
}

void expiry_queue::place(std::size_t position, node moved) noexcept {
  heap_[position] = moved;
  moved.item->second.queue_position = position;
}

}  // namespace resp
