// src/http/listing_cache.hpp: directories that are being read, or were read a moment ago, for everybody who asks.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/blocking_pool.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/tasks/shared_task.hpp>

#include "directory_contents.hpp"
#include "found_file.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

namespace gyre::http {

/// Which directory is wanted. The descriptors are good until the call that they are passed to is over.
struct wanted_directory {
  std::uint64_t tree = 0;  // the number of the root
  int root = -1;
  int descriptor = -1;
  std::string path;  // below the root
  bool hidden = false;
};

/// Contents are used again for a second, unless the directory has changed by then. Requests for one directory share a reading.
/// At most two directories are read at a time in the whole process, on threads that do nothing else.
///
/// Thread: that of the loop on which it is used. `clear` before that loop ends.
class listing_cache : private timer {
 public:
  using contents = std::shared_ptr<const directory_contents>;
  /// Bytes of contents that may be in use, by responses that are being sent as well.
  static constexpr std::size_t most_memory = std::size_t{64} << 20U;

  listing_cache() : used_(std::make_shared<std::size_t>(0)) {
    fire = [](timer& t) noexcept { static_cast<listing_cache&>(t).drop_old(); };
  }
  listing_cache(const listing_cache&) = delete;
  listing_cache& operator=(const listing_cache&) = delete;
  ~listing_cache() { clear(); }

  /// Shows all that was in the directory when it was called.
  ///
  /// Cancel: a reading that has begun goes on for the others. Errors: io_error; status_error with 503 when too much memory is in
  /// use, or the loop ends.
  task<contents> get(wanted_directory wanted);
  void clear() noexcept;

  /// For tests: directories that were read.
  [[nodiscard]] std::size_t readings() const noexcept { return readings_; }
  [[nodiscard]] std::size_t memory() const noexcept { return *used_; }
  /// The threads that read directories.
  static io::blocking_pool& pool();

 private:
  static constexpr std::size_t most_places = 64;
  static constexpr io::monotonic_time keeps = 1'000'000'000;

  struct place {
    std::uint64_t tree;
    std::string path;
    file_version version;  // of the directory, when the reading began
    bool settled = false;  // a change since then would give it another version
    io::monotonic_time began = 0;
    std::uint64_t number = 0;  // of the reading
    std::optional<shared_task<contents>> reading = {};
    std::weak_ptr<const directory_contents> last = {};  // what was found, while somebody uses it
  };

  place& place_of(const wanted_directory& wanted);
  void begin(place& where, const wanted_directory& wanted, file_version version);
  [[nodiscard]] bool is_good(const place& where, file_version now, std::uint64_t readings_before) const noexcept;
  void drop_old() noexcept;

  std::list<place> places_;  // the last used first
  std::shared_ptr<std::size_t> used_;
  std::uint64_t readings_ = 0;
};

}  // namespace gyre::http
