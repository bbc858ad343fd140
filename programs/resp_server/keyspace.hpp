// programs/resp_server/keyspace.hpp: the keys, their values, and when they expire.
#pragma once

#include "programs/resp_server/entry.hpp"
#include "programs/resp_server/entry_list.hpp"
#include "programs/resp_server/expiry_queue.hpp"
#include "programs/resp_server/key_hash.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace resp {

struct keyspace_options {
  std::optional<std::size_t> max_bytes;     ///< of all keys and values; nothing: no limit
  std::size_t max_value_bytes = 64U << 20;  ///< of one value that grows by APPEND
  std::optional<std::uint64_t> hash_seed;   ///< nothing: random
};

/// Maps strings to strings. An expired key is gone: it is removed by the call that meets it, or by
/// expire_some(). The time is always the caller's.
///
/// Lifetime: references to entries stay valid until the entry is erased, by whatever call.
/// Errors:   std::bad_alloc, with nothing changed.
class keyspace {
 public:
  explicit keyspace(const keyspace_options& options = {});
  keyspace(const keyspace&) = delete;
  keyspace& operator=(const keyspace&) = delete;

  /// The entry of a key, or nullptr. Removes it when it has expired. Allocates nothing.
  [[nodiscard]] entry* find(std::string_view key, unix_ms now);

  /// Adds a key that is not there.
  entry& insert(std::string_view key, std::string_view value);

  /// Adds or overwrites. The key then never expires.
  entry& set(std::string_view key, std::string_view value, unix_ms now);

  /// Overwrites the value in its old memory when it fits and not too much of that would be wasted.
  void assign(entry& item, std::string_view value);
  void append(entry& item, std::string_view tail);

  void expire_at(entry& item, unix_ms when);
  void persist(entry& item) noexcept;  ///< it never expires any more
  void erase(entry& item);

  /// Removes all keys at once. Their memory counts until free_some() has given it back.
  void clear();

  /// Frees about `budget` entries that clear() has removed. True when none is left.
  bool free_some(std::size_t budget);

  /// Removes at most `budget` expired entries. Gives how many it removed; `budget`: call again.
  std::size_t expire_some(unix_ms now, std::size_t budget);

  /// When the next entry expires, or `never`: the time for the next expire_some() is just after.
  [[nodiscard]] unix_ms next_expiry() const noexcept;

  /// Counts expired entries that nobody has met yet, like DBSIZE.
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t expiring() const noexcept { return queue_.size(); }
  [[nodiscard]] std::uint64_t expired_so_far() const noexcept { return expired_; }

  /// What keys, values and the tables for them take, the allocator's overhead estimated.
  [[nodiscard]] std::size_t used_bytes() const noexcept;
  /// True when keys, values and `other_bytes` together take more than max_bytes.
  [[nodiscard]] bool over_limit(std::size_t other_bytes = 0) const noexcept;
  [[nodiscard]] const keyspace_options& options() const noexcept { return options_; }

  /// All entries, expired ones too. Lifetime: the list ends with the keyspace.
  [[nodiscard]] entry_list& all() noexcept { return list_; }

 private:
  using map = std::unordered_map<std::string, stored_value, key_hash, std::equal_to<>>;

  keyspace_options options_;
  map entries_;
  entry_list list_;
  expiry_queue queue_;
  std::vector<map> removed_;  // by clear(), not yet freed
  std::size_t removed_bytes_ = 0;
  std::size_t entry_bytes_ = 0;
  std::uint64_t expired_ = 0;
};

}  // namespace resp
