// src/http/directory_contents.cpp: one system call per name, and three sort orders.
#include "directory_contents.hpp"

#include <gyre/io/io_error.hpp>
#include <gyre/io/owned_fd.hpp>

#include "found_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <numeric>

namespace gyre::http {
namespace {

class directory_stream {
 public:
  // Opens a new file description: duplicated descriptors share their position in the directory.
  explicit directory_stream(int directory) {
    owned_fd own(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (own) open_ = ::fdopendir(own.get());
    if (open_ == nullptr) fail();
    (void)own.release();
  }
  directory_stream(const directory_stream&) = delete;
  directory_stream& operator=(const directory_stream&) = delete;
  ~directory_stream() { ::closedir(open_); }

  [[nodiscard]] int descriptor() const noexcept { return ::dirfd(open_); }
  /// Returns null at the end.
  const dirent* next() {
    errno = 0;
    const dirent* const each = ::readdir(open_);
    if (each == nullptr && errno != 0) fail();
    return each;
  }

 private:
  [[noreturn]] static void fail() { throw io_error({errno, std::generic_category()}, "list", "the directory"); }
  DIR* open_ = nullptr;
};

struct looked_at {
  bool shown = false;
  bool directory = false;
  std::uint64_t size = 0;
  unix_seconds modified = 0;
};

looked_at look_at_link(int root, const std::string& path, std::string_view name) {
  const std::string below = path.empty() ? std::string(name) : path + "/" + std::string(name);
  const found_file found = look_below(root, below);
  return {.shown = found.error == 0 && found.what != found_file::kind::other,
          .directory = found.what == found_file::kind::directory,
          .size = found.version.size,
          .modified = found.modified};
}

looked_at look_at(const directory_stream& open, const dirent& each, int root, const std::string& path) {
  const bool may_be_shown =
      each.d_type == DT_REG || each.d_type == DT_DIR || each.d_type == DT_LNK || each.d_type == DT_UNKNOWN;
  struct stat status{};
  if (!may_be_shown || ::fstatat(open.descriptor(), each.d_name, &status, AT_SYMLINK_NOFOLLOW) < 0) return {};
  if (S_ISLNK(status.st_mode)) return look_at_link(root, path, each.d_name);
  return {.shown = S_ISREG(status.st_mode) || S_ISDIR(status.st_mode),
          .directory = S_ISDIR(status.st_mode),
          .size = static_cast<std::uint64_t>(status.st_size),
          .modified = status.st_mtim.tv_sec};
}

}  // namespace

directory_contents::directory_contents(int root, int directory, const std::string& path, bool hidden) {
  read(root, directory, path, hidden);
  sort();
}

void directory_contents::read(int root, int directory, const std::string& path, bool hidden) {
  directory_stream open(directory);
  std::size_t seen = 0;
  while (const dirent* const each = open.next()) {
    const std::string_view name = each->d_name;
    if (name == "." || name == "..") continue;
    more_ = ++seen > most_looked_at;
    if (more_) break;
    if (!hidden && name.starts_with('.')) continue;
    const looked_at found = look_at(open, *each, root, path);
    if (!found.shown) continue;
    more_ = entries_.size() == most_entries;
    if (more_) break;
    entries_.push_back({.size = found.size,
                        .modified = found.modified,
                        .name_begin = static_cast<std::uint32_t>(names_.size()),
                        .name_size = static_cast<std::uint16_t>(name.size()),
                        .directory = found.directory});
    names_.append(name);
  }
}

void directory_contents::sort() {
  std::sort(entries_.begin(), entries_.end(), [this](const entry& a, const entry& b) {
    return a.directory != b.directory ? a.directory : name_of(a) < name_of(b);
  });
  const auto is_directory = [](const entry& each) { return each.directory; };
  directories_ =
      static_cast<std::size_t>(std::partition_point(entries_.begin(), entries_.end(), is_directory) - entries_.begin());
  // Equal entries are ordered by position, that is by name.
  const auto sort_by = [this](std::vector<std::uint32_t>& places, auto member) {
    places.resize(entries_.size());
    std::iota(places.begin(), places.end(), 0U);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      const entry& one = entries_[a];
      const entry& other = entries_[b];
      return one.*member != other.*member ? one.*member < other.*member : a < b;
    };
    const auto files = places.begin() + static_cast<std::ptrdiff_t>(directories_);
    std::sort(places.begin(), files, before);
    std::sort(files, places.end(), before);
  };
  sort_by(by_[0], &entry::size);
  sort_by(by_[1], &entry::modified);
}

const directory_contents::entry& directory_contents::at(std::size_t position, listing_order order,
                                                        bool descending) const noexcept {
  if (descending) {  // directories among themselves, files among themselves
    const bool directory = position < directories_;
    position = directory ? directories_ - 1 - position : directories_ + (entries_.size() - 1 - position);
  }
  if (order == listing_order::name) return entries_[position];
  return entries_[by_[order == listing_order::size ? 0 : 1][position]];
}

std::size_t directory_contents::memory() const noexcept {
  return sizeof(*this) + names_.capacity() + entries_.capacity() * sizeof(entry) +
         2 * entries_.size() * sizeof(std::uint32_t);
}

}  // namespace gyre::http
