// src/http/files/open_files.hpp: keeps recently served files open for the next request.
#pragma once

#include <gyre/fs/found_file.hpp>
#include <gyre/http/precondition.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/loop/event_loop.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gyre::http {

[[nodiscard]] inline file_version version_of(const fs::file_facts& facts) noexcept {
  return {.size = facts.size, .modified_ns = facts.modified_ns, .inode = facts.inode};
}

/// An open regular file, and its metadata for responses.
struct open_file {
  open_file() = default;
  /// The media type is the one of this name.
  open_file(fs::found_file&& found, std::string_view name);

  /// Updates the metadata. Returns false when the file has been deleted or replaced.
  [[nodiscard]] bool refresh();

  std::shared_ptr<const owned_fd> descriptor;  // shared with the responses that send it
  file_version version;
  unix_seconds modified = 0;
  std::string etag;
  std::string fields;            // ETag and Last-Modified, formatted
  std::string_view media_type;   // a string literal
  bool is_compressible = false;  // content of that type
  bool settled = false;          // the tag is strong
  bool alone = false;            // there is no compressed file beside it

 private:
  void describe();
};

/// A few files, kept for a second each. So a path that leads elsewhere is noticed after a second at most. A write to
/// the file, a rename over it or its removal is noticed at once.
///
/// Thread: the loop's, on which it is used. Call `clear` before that loop ends.
class open_files : private timer {
 public:
  open_files() noexcept {
    fire = [](timer& t) noexcept { static_cast<open_files&>(t).drop_old(); };
  }
  open_files& operator=(open_files&&) = delete;
  ~open_files() { clear(); }

  /// Returns the file at `path` of the tree with that number, as it is now, or null when it has to be looked up.
  /// Lifetime: valid until the next call.
  [[nodiscard]] const open_file* find(std::uint64_t tree, std::string_view path);
  void keep(std::uint64_t tree, std::string_view path, const open_file& file);
  void clear() noexcept;

 private:
  static constexpr std::size_t max_files = 128;
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

  std::list<kept> all_;  // oldest first
  std::unordered_map<std::string_view, place> by_key_;
  std::string key_;
};

}  // namespace gyre::http
