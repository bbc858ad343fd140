// src/http/files/open_files.cpp: keeps files open: one fstat(2) per request, not open, fstat, close.
#include <gyre/http/field_line.hpp>
#include <gyre/http/media_type.hpp>
#include <gyre/io/wall_clock.hpp>

#include "open_files.hpp"

#include <algorithm>
#include <utility>

namespace gyre::http {

open_file::open_file(fs::found_file&& found, std::string_view name)
    : descriptor(std::make_shared<owned_fd>(std::move(found.descriptor))),
      version(version_of(found.facts)),
      modified(found.facts.modified),
      media_type(media_type_of(name)),
      is_compressible(http::is_compressible(media_type)) {
  describe();
}

void open_file::describe() {
  settled = is_settled(version, io::wall_clock_ns());
  etag = make_entity_tag(version, settled);
  // Last-Modified must not be later than the response: RFC 9110 §8.8.2.1. Conditions use the file's own time, so a
  // client's copy of a file from the future never counts as current.
  const auto date = format_date(std::min(modified, io::wall_clock().tv_sec));
  fields.clear();
  append_field_line(fields, "ETag", etag);
  append_field_line(fields, "Last-Modified", std::string_view(date.data(), date.size()));
}

bool open_file::refresh() {
  const auto facts = fs::facts_of(descriptor->get());
  if (!facts || facts->links == 0) return false;
  const file_version now = version_of(*facts);
  if (now != version || (!settled && is_settled(now, io::wall_clock_ns()))) {
    version = now;
    modified = facts->modified;
    describe();
  }
  return true;
}

const std::string& open_files::key_of(std::uint64_t tree, std::string_view path) {
  key_.assign(reinterpret_cast<const char*>(&tree), sizeof(tree));
  return key_.append(path);
}

const open_file* open_files::find(std::uint64_t tree, std::string_view path) {
  const auto found = by_key_.find(key_of(tree, path));
  if (found == by_key_.end()) return nullptr;
  const place known = found->second;
  if (known->file.refresh()) return &known->file;
  drop(known);
  return nullptr;
}

void open_files::keep(std::uint64_t tree, std::string_view path, const open_file& file) {
  event_loop& loop = event_loop::current();
  const std::string& key = key_of(tree, path);
  if (const auto before = by_key_.find(key); before != by_key_.end()) drop(before->second);
  if (all_.size() == max_files) drop(all_.begin());
  all_.push_back({.key = key, .file = file, .until = loop.now() + keeps});
  by_key_.emplace(all_.back().key, std::prev(all_.end()));
  if (armed()) return;
  deadline = all_.front().until;
  loop.timers().arm(*this);
}

void open_files::drop(place which) noexcept {
  by_key_.erase(which->key);
  all_.erase(which);
}

void open_files::drop_old() noexcept {
  event_loop& loop = event_loop::current();
  const io::monotonic_time now = loop.now();
  while (!all_.empty() && all_.front().until <= now) drop(all_.begin());
  if (all_.empty()) return;
  deadline = all_.front().until;
  loop.timers().arm(*this);
}

void open_files::clear() noexcept {
  if (armed()) event_loop::current().timers().disarm(*this);
  by_key_.clear();
  all_.clear();
}

}  // namespace gyre::http
