// programs/resp_server/keyspace.cpp: the keys, their values, and when they expire.
#include "programs/resp_server/keyspace.hpp"

#include <algorithm>
#include <utility>

namespace resp {
namespace {

constexpr std::size_t small_value = 4096;        // below it, spare capacity is never given back
constexpr std::size_t allocation_overhead = 16;  // of the allocator, per block
constexpr std::size_t node_bytes =
    sizeof(entry) + 2 * sizeof(void*) + allocation_overhead;  // with the link and the cached hash

std::size_t heap_bytes(const std::string& text) noexcept {
  static const std::size_t inside = std::string().capacity();
  return text.capacity() > inside ? text.capacity() + 1 + allocation_overhead : 0;
}

std::size_t footprint(const entry& item) noexcept {
  return node_bytes + heap_bytes(item.first) + heap_bytes(item.second.bytes);
}

}  // namespace

keyspace::keyspace(const keyspace_options& options)
    : options_(options), entries_(0, key_hash::with_seed(options.hash_seed)) {}

entry* keyspace::find(std::string_view key, unix_ms now) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  if (found->second.expires_at >= now) return &*found;
  ++expired_;
  erase(*found);
  return nullptr;
}

entry& keyspace::insert(std::string_view key, std::string_view value) {
  stored_value stored;
  stored.bytes = value;
  entry& item = *entries_.try_emplace(std::string(key), std::move(stored)).first;
  list_.push_front(item);
  entry_bytes_ += footprint(item);
  return item;
}

entry& keyspace::set(std::string_view key, std::string_view value, unix_ms now) {
  entry* item = find(key, now);
  if (item == nullptr) return insert(key, value);
  assign(*item, value);
  persist(*item);
  return *item;
}

void keyspace::assign(entry& item, std::string_view value) {
  std::string& bytes = item.second.bytes;
  const std::size_t before = heap_bytes(bytes);
  if (bytes.capacity() > small_value && bytes.capacity() / 4 > value.size()) {
    std::string(value).swap(bytes);  // assigning would keep the old memory for a short value
  } else {
    bytes.assign(value);
  }
  entry_bytes_ += heap_bytes(bytes) - before;
}

void keyspace::append(entry& item, std::string_view tail) {
  const std::size_t before = heap_bytes(item.second.bytes);
  item.second.bytes.append(tail);
  entry_bytes_ += heap_bytes(item.second.bytes) - before;
}

void keyspace::expire_at(entry& item, unix_ms when) { queue_.set(item, std::min(when, never - 1)); }

void keyspace::persist(entry& item) noexcept {
  if (item.second.expires_at != never) queue_.remove(item);
}

void keyspace::erase(entry& item) {
  persist(item);
  list_.remove(item);
  entry_bytes_ -= footprint(item);
  entries_.erase(entries_.find(item.first));
  // Shrinks a table that is much too large for its keys; otherwise it could keep the keyspace over the limit.
  const bool sparse = entries_.bucket_count() > 1024 && entries_.size() < entries_.bucket_count() / 16;
  if (sparse) entries_.rehash(entries_.size() * 2);
}

void keyspace::clear() {
  map empty(0, entries_.hash_function());
  if (entries_.empty()) {
    entries_ = std::move(empty);
    return;
  }
  removed_.push_back(std::move(entries_));
  entries_ = std::move(empty);
  removed_bytes_ += std::exchange(entry_bytes_, 0) + removed_.back().bucket_count() * sizeof(void*);
  queue_.clear();
  list_.clear();
}

bool keyspace::free_some(std::size_t budget) {
  constexpr std::size_t bytes_like_an_entry = 4096;  // freeing pages takes time, too
  for (std::size_t spent = 0; !removed_.empty() && spent < budget;) {
    map& last = removed_.back();
    if (last.empty()) {
      removed_bytes_ -= last.bucket_count() * sizeof(void*);
      removed_.pop_back();
    } else {
      const std::size_t bytes = footprint(*last.begin());
      last.erase(last.begin());
      removed_bytes_ -= bytes;
      spent += 1 + bytes / bytes_like_an_entry;
    }
  }
  return removed_.empty();
}

std::size_t keyspace::expire_some(unix_ms now, std::size_t budget) {
  std::size_t removed = 0;
  while (removed < budget && next_expiry() < now) {
    erase(*queue_.soonest());
    ++removed;
  }
  expired_ += removed;
  return removed;
}

unix_ms keyspace::next_expiry() const noexcept {
  const entry* soonest = queue_.soonest();
  return soonest == nullptr ? never : soonest->second.expires_at;
}

std::size_t keyspace::used_bytes() const noexcept {
  return entry_bytes_ + removed_bytes_ + entries_.bucket_count() * sizeof(void*) + queue_.allocated_bytes();
}

bool keyspace::over_limit(std::size_t other_bytes) const noexcept {
  return options_.max_bytes && used_bytes() + other_bytes > *options_.max_bytes;
}

}  // namespace resp
