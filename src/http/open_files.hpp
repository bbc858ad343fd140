// src/http/open_files.hpp: files that were served a moment ago stay open, for whoever asks for them next.
#pragma once

#include <gyre/http/precondition.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/loop/event_loop.hpp>

#include "found_file.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gyre::http {

/// The time of the field Date.
[[nodiscard]] unix_seconds wall_clock() noexcept;
/// The same in nanoseconds, which count in the ticks of file systems.
[[nodiscard]] std::int64_t wall_clock_ns() noexcept;

/// A regular file that is open, and what is told about it.
struct open_file {
  open_file() = default;
  explicit open_file(found_file&& found);

  /// Looks at it again. False: it has been deleted or replaced.
  [[nodiscard]] bool refresh();

  std::shared_ptr<const owned_fd> descriptor;  // shared with the responses that send it
  file_version version;
  unix_seconds modified = 0;
  std::string etag;
  std::string fields;    // ETag and Last-Modified, as they are sent
  bool settled = false;  // the tag is strong
  bool alone = false;    // no compressed file beside it

 private:
  void describe();
};

/// A few files, for a second each: a path that changes what it leads to is noticed so late at the most. What happens to the
/// file itself, by a write, by a rename over it or by its removal, is noticed at once.
///
/// Thread: that of the loop on which it is used. `clear` before that loop ends.
class open_files : private timer {
 public:
  open_files() noexcept {
    fire = [](timer& t) noexcept { static_cast<open_files&>(t).drop_old(); };
  }
  open_files(const open_files&) = delete;
  open_files& operator=(const open_files&) = delete;
  ~open_files() { clear(); }

  /// The file at `path` of a tree of that number, as it is now. Null: it has to be looked for. Lifetime: until the next call.
  [[nodiscard]] const open_file* find(std::uint64_t tree, std::string_view path);
  void keep(std::uint64_t tree, std::string_view path, const open_file& file);
  void clear() noexcept;

 private:
  static constexpr std::size_t most = 128;
  static constexpr io::monotonic_time keeps = 1'000'000'000;

  struct kept {
    std::string key;
    open_file file;
    io::monotonic_time until;
  };
  using place = std::list<kept>::iterator;

  const std::string& key_of(std::uint64_t tree, std::string_view path);
  void drop(place which) noexcept;
  void drop_old() noexcept;

  std::list<kept> all_;  // the oldest first
  std::unordered_map<std::string_view, place> by_key_;
  std::string key_;
};

}  // namespace gyre::http
