// src/http/files/listing_cache.hpp: shares readings of directories among requests, in progress or recent.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/precondition.hpp>
#include <gyre/io/blocking_pool.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/tasks/shared_task.hpp>

#include "directory_contents.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

namespace gyre::http {

/// A directory to list. The descriptors must be valid until the call that gets them has finished.
struct wanted_directory {
  std::uint64_t tree = 0;  // the number of the root
  int root = -1;
  int descriptor = -1;
  std::string path;  // below the root
  bool hidden = false;
};

/// Contents are reused for a second, unless the directory changes. Concurrent requests for one directory share a
/// reading. The whole process reads at most two directories at a time, on dedicated threads.
///
/// Thread: the loop's, on which it is used. Call `clear` before that loop ends.
class listing_cache : private timer {
 public:
  using contents = std::shared_ptr<const directory_contents>;
  /// The limit of memory in use by contents, in bytes. Includes contents of responses that are still being sent.
  static constexpr std::size_t max_memory = std::size_t{64} << 20U;

  listing_cache() : used_(std::make_shared<std::size_t>(0)) {
    fire = [](timer& t) noexcept { static_cast<listing_cache&>(t).drop_old(); };
  }
  listing_cache& operator=(listing_cache&&) = delete;
  ~listing_cache() { clear(); }

  /// Returns everything that was in the directory when it was called.
  ///
  /// Cancel: a reading that has begun continues for the others. Errors: io_error; status_error with 503 when too much
  /// memory is in use, or when the loop ends.
  task<contents> get(wanted_directory wanted);
  void clear() noexcept;

  /// For tests: the number of readings so far.
  [[nodiscard]] std::size_t readings() const noexcept { return readings_; }
  [[nodiscard]] std::size_t memory() const noexcept { return *used_; }
  /// The threads that read directories.
  static io::blocking_pool& pool();

 private:
  static constexpr std::size_t max_places = 64;
  static constexpr io::monotonic_time keeps = 1'000'000'000;

  struct place {
    std::uint64_t tree;
    std::string path;
    file_version version;  // of the directory, when the reading began
    bool settled = false;  // a change after this reading would change the version
    io::monotonic_time began = 0;
    std::uint64_t number = 0;  // of the reading
    std::optional<shared_task<contents>> reading = {};
    std::weak_ptr<const directory_contents> last = {};  // the contents, as long as they are in use
  };

  place& place_of(const wanted_directory& wanted);
  void begin(place& where, const wanted_directory& wanted, file_version version);
  [[nodiscard]] bool is_good(const place& where, file_version now, std::uint64_t readings_before) const noexcept;
  void drop_old() noexcept;

  std::list<place> places_;  // most recently used first
  std::shared_ptr<std::size_t> used_;
  std::uint64_t readings_ = 0;
};

}  // namespace gyre::http
