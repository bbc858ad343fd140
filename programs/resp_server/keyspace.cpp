// programs/resp_server/keyspace.cpp: the keys of a shard, their values, and when they expire.
#include "programs/resp_server/keyspace.hpp"

namespace resp {
namespace {

constexpr std::size_t small_value = 4096;        // below it, spare capacity is never given back
constexpr std::size_t allocation_overhead = 16;  // of the allocator, per block
constexpr std::size_t node_bytes = sizeof(entry) + 2 * sizeof(void*) + allocation_overhead;  // with link and hash
constexpr std::size_t expiry_bytes = 64;                                                     // of an element of the set

std::size_t heap_bytes(const std::string& text) noexcept {
  static const std::size_t inside = std::string().capacity();
  return text.capacity() > inside ? text.capacity() + 1 + allocation_overhead : 0;
}

std::size_t footprint(const entry& item) noexcept {
  return node_bytes + heap_bytes(item.first) + heap_bytes(item.second.bytes);
}

}  // namespace

void keyspace::publish() noexcept {
  figures_.keys = entries_.size();
  figures_.expiring_keys = expiring_.size();
  figures_.key_bytes = entry_bytes_ + entries_.bucket_count() * sizeof(void*) + expiring_.size() * expiry_bytes;
}

entry* keyspace::find(std::string_view key, unix_ms now) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  if (found->second.expires_at >= now) return &*found;
  figures_.expired_keys += 1;
  erase(*found);
  return nullptr;
}

entry& keyspace::set(entry* old, std::string_view key, std::string_view value) {
  if (old == nullptr) {
    old = &*entries_.try_emplace(std::string(key), stored_value{std::string(value)}).first;
    entry_bytes_ += footprint(*old);
  } else {
    std::string& bytes = old->second.bytes;
    const std::size_t before = heap_bytes(bytes);
    if (bytes.capacity() > small_value && bytes.capacity() / 4 > value.size())
      std::string(value).swap(bytes);  // assigning would keep the old memory for a short value
    else
      bytes.assign(value);
    entry_bytes_ += heap_bytes(bytes) - before;
  }
  publish();
  return *old;
}

void keyspace::expire_at(entry& item, unix_ms when) {
  if (when != never) expiring_.emplace(when, &item);
  if (when != item.second.expires_at) expiring_.erase({item.second.expires_at, &item});
  item.second.expires_at = when;
  publish();
}

void keyspace::erase(entry& item) {
  expiring_.erase({item.second.expires_at, &item});
  entry_bytes_ -= footprint(item);
  entries_.erase(entries_.find(item.first));
  // Shrinks a table that is much too large for its keys; otherwise it could keep the keyspace over the limit.
  const bool sparse = entries_.bucket_count() > 1024 && entries_.size() < entries_.bucket_count() / 16;
  if (sparse) entries_.rehash(entries_.size() * 2);
  publish();
}

std::size_t keyspace::expire_some(unix_ms now, std::size_t budget) {
  std::size_t removed = 0;
  for (; removed < budget && !expiring_.empty() && expiring_.begin()->first < now; ++removed)
    erase(*expiring_.begin()->second);
  figures_.expired_keys += removed;
  return removed;
}

}  // namespace resp
