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
  std::optional<std::size_t> max_bytes;     ///< of all keys and values; nothing for no limit
  std::size_t max_value_bytes = 64U << 20;  ///< of one value that grows by APPEND
  std::optional<std::uint64_t> hash_seed;   ///< random by default
};

/// Maps strings to strings. An expired key counts as absent: it is removed by the next call that finds it, or by
/// expire_some(). The caller always passes the time.
///
/// Lifetime: references to entries stay valid until the entry is erased, by any call.
/// Errors:   std::bad_alloc, with nothing changed.
class keyspace {
 public:
  explicit keyspace(const keyspace_options& options = {});
  keyspace(const keyspace&) = delete;
  keyspace& operator=(const keyspace&) = delete;

  /// Returns the entry of a key, or nullptr. Removes the entry if it has expired. Allocates nothing.
  [[nodiscard]] entry* find(std::string_view key, unix_ms now);

  /// Adds a key that must not exist yet.
  entry& insert(std::string_view key, std::string_view value);

  /// Adds or overwrites a key. The key then never expires.
  entry& set(std::string_view key, std::string_view value, unix_ms now);

  /// Overwrites the value. Reuses its memory if the new value fits and does not waste too much of it.
  void assign(entry& item, std::string_view value);
  void append(entry& item, std::string_view tail);

  void expire_at(entry& item, unix_ms when);
  void persist(entry& item) noexcept;  ///< removes the expiry
  void erase(entry& item);

  /// Removes all keys at once. Their memory counts until free_some() has freed it.
  void clear();

  /// Frees about `budget` of the entries that clear() has removed. Returns true when none is left.
  bool free_some(std::size_t budget);

  /// Removes at most `budget` expired entries. Returns their number; if that is `budget`, call again.
  std::size_t expire_some(unix_ms now, std::size_t budget);

  /// The time when the next entry expires, or `never`. Call expire_some() just after it.
  [[nodiscard]] unix_ms next_expiry() const noexcept;

  /// Includes expired entries that no call has found yet, like DBSIZE.
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t expiring() const noexcept { return queue_.size(); }
  [[nodiscard]] std::uint64_t expired_so_far() const noexcept { return expired_; }

  /// The memory of keys, values and their tables, with an estimate of the allocator's overhead.
  [[nodiscard]] std::size_t used_bytes() const noexcept;
  /// True if keys, values and `other_bytes` together take more than max_bytes.
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
  std::vector<map> removed_;  // removed by clear(), but not freed yet
  std::size_t removed_bytes_ = 0;
  std::size_t entry_bytes_ = 0;
  std::uint64_t expired_ = 0;
};

}  // namespace resp
