// src/http/files/directory_contents.cpp: reads a directory, one system call per name, and sorts it.
#include "directory_contents.hpp"

#include <gyre/fs/directory_stream.hpp>
#include <gyre/fs/found_file.hpp>

#include <algorithm>
#include <numeric>
#include <optional>

namespace gyre::http {
namespace {

bool is_shown(fs::file_kind kind) noexcept {
  return kind == fs::file_kind::regular || kind == fs::file_kind::directory;
}

// The facts of an entry, or of the target of a link. Nothing for an entry that is not shown.
std::optional<fs::file_facts> look_at(const fs::directory_stream& open, std::string_view name, int root,
                                      const std::string& path) {
  const fs::file_kind kind = open.kind();
  if (!is_shown(kind) && kind != fs::file_kind::symlink && kind != fs::file_kind::unknown) return {};
  auto facts = open.facts();
  if (facts && facts->kind == fs::file_kind::symlink) {
    const std::string below = path.empty() ? std::string(name) : path + "/" + std::string(name);
    const fs::found_file target = fs::look_below(root, below);
    if (target.error != 0) return {};
    facts = target.facts;
  }
  return facts && is_shown(facts->kind) ? facts : std::nullopt;
}

}  // namespace

directory_contents::directory_contents(int root, int directory, const std::string& path, bool hidden) {
  read(root, directory, path, hidden);
  sort();
}

void directory_contents::read(int root, int directory, const std::string& path, bool hidden) {
  fs::directory_stream open(directory);
  std::size_t seen = 0;
  while (const char* const each = open.next()) {
    const std::string_view name = each;
    more_ = ++seen > max_looked_at;
    if (more_) break;
    if (!hidden && name.starts_with('.')) continue;
    const auto found = look_at(open, name, root, path);
    if (!found) continue;
    more_ = entries_.size() == max_entries;
    if (more_) break;
    entries_.push_back({.size = found->size,
                        .modified = found->modified,
                        .name_begin = static_cast<std::uint32_t>(names_.size()),
                        .name_size = static_cast<std::uint16_t>(name.size()),
                        .directory = found->kind == fs::file_kind::directory});
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
