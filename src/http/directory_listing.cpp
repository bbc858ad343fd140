// src/http/directory_listing.cpp: reading a directory on a thread, and writing it down safely.
#include <gyre/http/http_date.hpp>
#include <gyre/http/negotiation.hpp>
#include <gyre/http/target.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/tasks/to_thread.hpp>

#include "directory_listing.hpp"
#include "escape.hpp"
#include "found_file.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::http {
namespace {

constexpr std::size_t most_entries = 20'000;

struct entry {
  std::string name;
  bool directory = false;
  std::uint64_t size = 0;
  unix_seconds modified = 0;
};

struct contents {
  std::vector<entry> entries;
  bool more = false;
};

struct place {
  int root;
  int descriptor;
  std::string_view path;
};

// A link is shown as what it leads to, if that is inside of the tree.
found_file look_at(const place& where, const dirent& each) {
  const std::string name = each.d_name;
  return look_below(where.root, where.path.empty() ? name : std::string(where.path) + "/" + name);
}

contents read_directory(const place& where, bool hidden) {
  owned_fd own(::fcntl(where.descriptor, F_DUPFD_CLOEXEC, 0));
  DIR* const open = ::fdopendir(own.get());
  if (open == nullptr) throw io_error({errno, std::generic_category()}, "list", "the directory");
  (void)own.release();
  struct closed_at_end {
    DIR* directory;
    ~closed_at_end() { ::closedir(directory); }
  } const at_end{open};
  contents all;
  while (const dirent* const each = ::readdir(open)) {
    const std::string_view name = each->d_name;
    if (name == "." || name == ".." || (!hidden && name.starts_with('.'))) continue;
    const found_file found = look_at(where, *each);
    if (found.error != 0 || found.what == found_file::kind::other) continue;
    if (all.entries.size() == most_entries) {
      all.more = true;
      break;
    }
    all.entries.push_back({.name = std::string(name),
                           .directory = found.what == found_file::kind::directory,
                           .size = found.version.size,
                           .modified = found.modified});
  }
  return all;
}

struct order {
  std::string_view by = "name";
  bool descending = false;
};

order wanted_order(request& r) {
  order wanted;
  const std::string_view by = r.query_parameter("sort").value_or("name");
  for (const std::string_view known : {"name", "size", "time"})
    if (by == known) wanted.by = known;
  wanted.descending = r.query_parameter("order") == "desc";
  return wanted;
}

// Directories first, whatever the order.
void sort_entries(std::vector<entry>& entries, order wanted) {
  const auto before = [wanted](const entry& a, const entry& b) {
    if (wanted.by == "size" && a.size != b.size) return a.size < b.size;
    if (wanted.by == "time" && a.modified != b.modified) return a.modified < b.modified;
    return a.name < b.name;
  };
  std::sort(entries.begin(), entries.end(), [&](const entry& a, const entry& b) {
    if (a.directory != b.directory) return a.directory;
    return wanted.descending ? before(b, a) : before(a, b);
  });
}

// "4.2 MB", for people.
std::string readable_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units = {"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return std::to_string(bytes) + " B";
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (value /= 1000; value >= 999.5 && unit + 1 < units.size(); value /= 1000) ++unit;
  char text[32];
  std::snprintf(text, sizeof(text), value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

// "2026-11-21 08:30", UTC.
std::string readable_time(unix_seconds when) {
  const auto date = format_date(when);  // Sun, 06 Nov 1994 08:49:37 GMT
  const std::string_view text(date.data(), date.size());
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::size_t month = months.find(text.substr(8, 3)) / 3 + 1;
  std::string out(text.substr(12, 4));
  out.append(month < 10 ? "-0" : "-").append(std::to_string(month)).append("-").append(text.substr(5, 2));
  return out.append(" ").append(text.substr(17, 5));
}

std::string link_to(const entry& each) {
  // "./" keeps a name with a colon from being read as a scheme.
  return "./" + percent_encode(each.name, encode_for::path_segment) + (each.directory ? "/" : "");
}

constexpr std::string_view page_begin = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>)";
constexpr std::string_view page_style = R"(</title><style>
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}
h1{font-size:1.25rem;overflow-wrap:anywhere}
table{width:100%;border-collapse:collapse}
th{text-align:left;font-weight:600}
td,th{padding:.4rem .5rem;border-bottom:1px solid color-mix(in srgb,currentColor 15%,transparent)}
td:first-child{overflow-wrap:anywhere}
td:nth-child(n+2),th:nth-child(n+2){white-space:nowrap;text-align:right;font-variant-numeric:tabular-nums}
a{text-decoration:none}a:hover{text-decoration:underline}
@media(max-width:36rem){td:nth-child(3),th:nth-child(3){display:none}}
</style></head><body>
<h1>)";

void append_heading(std::string& out, std::string_view title, std::string_view by, order now) {
  const bool current = now.by == by;
  const bool next_descending = current && !now.descending;
  out.append("<th><a href=\"?sort=").append(by).append("&amp;order=").append(next_descending ? "desc" : "asc");
  out.append("\">").append(title).append("</a>").append(current ? (now.descending ? " ↓" : " ↑") : "").append("</th>");
}

std::string as_page(const contents& all, std::string_view path, order sorted) {
  std::string title = "/" + std::string(path);
  std::string out(page_begin);
  append_html(out, title);
  out.append(page_style);
  append_html(out, title);
  out.append("</h1>\n<table><thead><tr>");
  append_heading(out, "Name", "name", sorted);
  append_heading(out, "Size", "size", sorted);
  append_heading(out, "Changed (UTC)", "time", sorted);
  out.append("</tr></thead><tbody>\n");
  if (!path.empty()) out.append("<tr><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n");
  for (const entry& each : all.entries) {
    out.append("<tr><td><a href=\"");
    append_html(out, link_to(each));
    out.append("\">");
    append_html(out, each.name);
    out.append(each.directory ? "/" : "").append("</a></td><td>");
    out.append(each.directory ? "" : readable_size(each.size)).append("</td><td>");
    out.append(readable_time(each.modified)).append("</td></tr>\n");
  }
  out.append("</tbody></table>\n");
  if (all.more) out.append("<p>There are more entries than are shown here.</p>\n");
  return out.append("</body></html>\n");
}

std::string as_json(const contents& all) {
  std::string out = "[";
  for (const entry& each : all.entries) {
    out.append(out.size() > 1 ? ",\n" : "\n").append("{\"name\":");
    append_json(out, each.name);
    out.append(each.directory ? ",\"type\":\"directory\"" : ",\"type\":\"file\",\"size\":" + std::to_string(each.size));
    out.append(",\"modified\":").append(std::to_string(each.modified)).append("}");
  }
  return out.append("\n]\n");
}

}  // namespace

task<response> list_as_response(request& r, int root, owned_fd directory, std::string path, bool hidden) {
  const order wanted = wanted_order(r);
  const place where{.root = root, .descriptor = directory.get(), .path = path};
  constexpr std::array<std::string_view, 2> kinds = {"text/html; charset=utf-8", "application/json"};
  const bool json = choose_media_type(r.fields(), kinds) == kinds[1];
  // Sorting and writing down a large directory takes tens of milliseconds, which the loop does not have either.
  auto list = [&] {
    contents all = read_directory(where, hidden);
    sort_entries(all.entries, wanted);
    return json ? as_json(all) : as_page(all, path, wanted);
  };
  std::string text = co_await to_thread(list);
  response made = json ? response::json(std::move(text)) : response::html(std::move(text));
  made.add_field("Vary", "Accept");
  made.add_field("Cache-Control", "no-cache");
  // Names of files are not ours: nothing in them runs, and the page loads nothing.
  made.add_field("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
  co_return made;
}

}  // namespace gyre::http
