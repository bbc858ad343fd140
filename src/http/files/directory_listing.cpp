// src/http/files/directory_listing.cpp: writes the contents of a directory as HTML or JSON, piece by piece.
#include <gyre/http/body_writer.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http/negotiation.hpp>
#include <gyre/http/target.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/loop/yield.hpp>

#include "directory_listing.hpp"
#include "semantics/escape.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

using entry = directory_contents::entry;

struct order {
  listing_order by = listing_order::name;
  bool descending = false;
};

order wanted_order(request& r) {
  order wanted;
  const std::string_view by = r.query_parameter("sort").value_or("name");
  if (by == "size") wanted.by = listing_order::size;
  if (by == "time") wanted.by = listing_order::time;
  wanted.descending = r.query_parameter("order") == "desc";
  return wanted;
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
td:first-child{overflow-wrap:anywhere;unicode-bidi:isolate}
td:nth-child(n+2),th:nth-child(n+2){white-space:nowrap;text-align:right;font-variant-numeric:tabular-nums}
a{text-decoration:none}a:hover{text-decoration:underline}
@media(max-width:36rem){td:nth-child(3),th:nth-child(3){display:none}}
</style></head><body>
<h1>)";

void append_heading(std::string& out, std::string_view title, std::string_view name, listing_order by, order now) {
  const bool current = now.by == by;
  const bool next_descending = current && !now.descending;
  out.append("<th><a href=\"?sort=").append(name).append("&amp;order=").append(next_descending ? "desc" : "asc");
  out.append("\">").append(title).append("</a>").append(current ? (now.descending ? " ↓" : " ↑") : "").append("</th>");
}

void append_page_begin(std::string& out, std::string_view path, order sorted) {
  const std::string title = printable("/" + std::string(path));
  out.append(page_begin);
  append_html(out, title);
  out.append(page_style);
  append_html(out, title);
  out.append("</h1>\n<table><thead><tr>");
  append_heading(out, "Name", "name", listing_order::name, sorted);
  append_heading(out, "Size", "size", listing_order::size, sorted);
  append_heading(out, "Changed (UTC)", "time", listing_order::time, sorted);
  out.append("</tr></thead><tbody>\n");
  if (!path.empty()) out.append("<tr><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n");
}

void append_page_row(std::string& out, const entry& each, std::string_view name) {
  const std::string_view slash = each.directory ? "/" : "";
  out.append("<tr><td><a href=\"./");  // "./" keeps a name with a colon from being read as a scheme
  append_html(out, percent_encode(name, encode_for::path_segment));
  out.append(slash).append("\">");
  append_html(out, printable(name));
  out.append(slash).append("</a></td><td>");
  if (!each.directory) out.append(readable_size(each.size));
  out.append("</td><td>").append(readable_time(each.modified)).append("</td></tr>\n");
}

void append_page_end(std::string& out, bool more) {
  out.append("</tbody></table>\n");
  if (more) out.append("<p>There are more entries than are shown here.</p>\n");
  out.append("</body></html>\n");
}

void append_json_row(std::string& out, const entry& each, std::string_view name, bool first) {
  out.append(first ? "\n" : ",\n").append("{\"name\":");
  append_json(out, name);
  if (each.directory)
    out.append(",\"type\":\"directory\"");
  else
    out.append(",\"type\":\"file\",\"size\":").append(std::to_string(each.size));
  out.append(",\"modified\":").append(std::to_string(each.modified)).append("}");
}

// The text of a listing, in pieces.
class listing_text {
 public:
  listing_text(listing_cache::contents all, std::string path, order sorted, bool json)
      : all_(std::move(all)), path_(std::move(path)), sorted_(sorted), json_(json) {}

  // Appends the next piece. Returns false at the end.
  bool append_next(std::string& out) {
    const std::size_t enough = out.size() + piece;
    if (!begun_) append_begin(out);
    begun_ = true;
    for (; next_ < all_->size() && out.size() < enough; ++next_) append_row(out);
    if (next_ < all_->size()) return true;
    append_end(out);
    return false;
  }

  task<> operator()(body_writer& out) {
    std::string text;
    for (bool more = true; more;) {
      text.clear();
      more = append_next(text);
      co_await out.write(text);
      if (more) co_await yield_turn();  // a client that takes everything at once must not keep other tasks from running
    }
  }

 private:
  static constexpr std::size_t piece = std::size_t{16} << 10U;

  void append_begin(std::string& out) const {
    if (json_)
      out += '[';
    else
      append_page_begin(out, path_, sorted_);
  }
  void append_row(std::string& out) const {
    const entry& each = all_->at(next_, sorted_.by, sorted_.descending);
    if (json_)
      append_json_row(out, each, all_->name_of(each), next_ == 0);
    else
      append_page_row(out, each, all_->name_of(each));
  }
  void append_end(std::string& out) const {
    if (json_)
      out.append("\n]\n");
    else
      append_page_end(out, all_->more());
  }

  listing_cache::contents all_;
  std::string path_;
  order sorted_;
  bool json_;
  bool begun_ = false;
  std::size_t next_ = 0;
};

task<> write_nothing(body_writer& /*out*/) { co_return; }

// A listing that is sent at once has a Content-Length.
response response_of(listing_text text, const request& r, std::size_t entries, std::string_view media_type) {
  constexpr std::size_t few = 64;
  if (entries > few && r.method() == "HEAD") return response::stream(&write_nothing, media_type);
  if (entries > few) return response::stream(std::move(text), media_type);
  std::string all;
  while (text.append_next(all)) {
  }
  return response::bytes(std::move(all), media_type);
}

}  // namespace

task<response> list_as_response(request& r, listing_cache& cache, wanted_directory wanted) {
  const order sorted = wanted_order(r);
  constexpr std::array<std::string_view, 2> kinds = {"text/html; charset=utf-8", "application/json"};
  const std::string_view kind = choose_media_type(r.fields(), kinds);
  const bool json = kind == kinds[1];
  std::string path = wanted.path;
  listing_cache::contents all = co_await cache.get(std::move(wanted));
  const std::size_t entries = all->size();
  const bool truncated = all->more();
  listing_text text(std::move(all), std::move(path), sorted, json);
  response made = response_of(std::move(text), r, entries, json ? kinds[1] : kinds[0]);
  made.add_field("Vary", "Accept");
  made.add_field("Cache-Control", "no-cache");
  // File names are untrusted: no script runs in the page, and the page loads nothing.
  made.add_field("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
  made.add_field("X-Content-Type-Options", "nosniff");
  if (truncated) made.add_field("X-Listing-Truncated", "true");  // a JSON array has no place for this
  co_return made;
}

}  // namespace gyre::http
