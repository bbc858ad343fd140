// src/http/semantics/media_type.cpp: the table of extensions, and the parsing of parameters.
#include <gyre/http/field.hpp>
#include <gyre/http/media_type.hpp>

#include "characters.hpp"
#include "parameters.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace gyre::http {
namespace {

struct extension {
  std::string_view name;
  std::string_view type;
};

// Sorted by name, in lower case.
// clang-format off
constexpr extension extensions[] = {
    {"7z", "application/x-7z-compressed"},
    {"aac", "audio/aac"},
    {"apng", "image/apng"},
    {"atom", "application/atom+xml"},
    {"avi", "video/x-msvideo"},
    {"avif", "image/avif"},
    {"bin", "application/octet-stream"},
    {"bmp", "image/bmp"},
    {"br", "application/x-brotli"},
    {"bz2", "application/x-bzip2"},
    {"c", "text/x-c; charset=utf-8"},
    {"cc", "text/x-c; charset=utf-8"},
    {"cjs", "text/javascript; charset=utf-8"},
    {"cpp", "text/x-c; charset=utf-8"},
    {"css", "text/css; charset=utf-8"},
    {"csv", "text/csv; charset=utf-8"},
    {"deb", "application/vnd.debian.binary-package"},
    {"doc", "application/msword"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"eot", "application/vnd.ms-fontobject"},
    {"epub", "application/epub+zip"},
    {"flac", "audio/flac"},
    {"geojson", "application/geo+json"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"h", "text/x-c; charset=utf-8"},
    {"heic", "image/heic"},
    {"hpp", "text/x-c; charset=utf-8"},
    {"htm", "text/html; charset=utf-8"},
    {"html", "text/html; charset=utf-8"},
    {"ico", "image/vnd.microsoft.icon"},
    {"ics", "text/calendar; charset=utf-8"},
    {"jar", "application/java-archive"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript; charset=utf-8"},
    {"json", "application/json"},
    {"jsonl", "application/jsonl"},
    {"jsonld", "application/ld+json"},
    {"jxl", "image/jxl"},
    {"log", "text/plain; charset=utf-8"},
    {"m3u8", "application/vnd.apple.mpegurl"},
    {"m4a", "audio/mp4"},
    {"m4v", "video/mp4"},
    {"map", "application/json"},
    {"markdown", "text/markdown; charset=utf-8"},
    {"md", "text/markdown; charset=utf-8"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"mkv", "video/matroska"},
    {"mov", "video/quicktime"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"mpd", "application/dash+xml"},
    {"mpeg", "video/mpeg"},
    {"ndjson", "application/x-ndjson"},
    {"odp", "application/vnd.oasis.opendocument.presentation"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"oga", "audio/ogg"},
    {"ogg", "audio/ogg"},
    {"ogv", "video/ogg"},
    {"opus", "audio/ogg"},
    {"otf", "font/otf"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"ppt", "application/vnd.ms-powerpoint"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"ps", "application/postscript"},
    {"py", "text/x-python; charset=utf-8"},
    {"rpm", "application/x-rpm"},
    {"rss", "application/rss+xml"},
    {"rtf", "application/rtf"},
    {"sh", "text/x-shellscript; charset=utf-8"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tgz", "application/gzip"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"toml", "application/toml"},
    {"ts", "video/mp2t"},
    {"tsv", "text/tab-separated-values; charset=utf-8"},
    {"ttc", "font/collection"},
    {"ttf", "font/ttf"},
    {"txt", "text/plain; charset=utf-8"},
    {"vtt", "text/vtt; charset=utf-8"},
    {"wasm", "application/wasm"},
    {"wav", "audio/wav"},
    {"weba", "audio/webm"},
    {"webm", "video/webm"},
    {"webmanifest", "application/manifest+json"},
    {"webp", "image/webp"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"xhtml", "application/xhtml+xml"},
    {"xls", "application/vnd.ms-excel"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"xz", "application/x-xz"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
};
// clang-format on

static_assert(std::is_sorted(std::begin(extensions), std::end(extensions),
                             [](const extension& a, const extension& b) { return a.name < b.name; }));

constexpr std::size_t max_extension_size = [] {
  std::size_t max_size = 0;
  for (const extension& each : extensions) max_size = std::max(max_size, each.name.size());
  return max_size;
}();

// Types that compress well, although their names do not say that they are text. Sorted.
constexpr std::string_view compressible[] = {
    "application/dash+xml",
    "application/javascript",
    "application/json",
    "application/jsonl",
    "application/postscript",
    "application/rtf",
    "application/toml",
    "application/vnd.apple.mpegurl",
    "application/vnd.ms-fontobject",
    "application/wasm",
    "application/x-javascript",
    "application/x-ndjson",
    "application/x-tar",
    "application/xml",
    "application/yaml",
    "font/collection",
    "font/otf",
    "font/ttf",
    "image/bmp",
    "image/vnd.microsoft.icon",
    "image/x-icon",
};
static_assert(std::is_sorted(std::begin(compressible), std::end(compressible)));

// The text after the last dot of the last segment. Empty if that dot is its first character.
std::string_view extension_of(std::string_view file_name) noexcept {
  file_name.remove_prefix(file_name.rfind('/') + 1);  // npos + 1 is 0
  const std::size_t dot = file_name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  return file_name.substr(dot + 1);
}

}  // namespace

std::string_view media_type_of(std::string_view file_name) noexcept {
  constexpr std::string_view unknown = "application/octet-stream";
  const std::string_view name = extension_of(file_name);
  if (name.size() > max_extension_size) return unknown;
  std::array<char, max_extension_size> buffer{};
  std::transform(name.begin(), name.end(), buffer.begin(), &to_lower);
  const std::string_view wanted(buffer.data(), name.size());
  const auto* const found =
      std::lower_bound(std::begin(extensions), std::end(extensions), wanted,
                       [](const extension& each, std::string_view text) { return each.name < text; });
  return found != std::end(extensions) && found->name == wanted ? found->type : unknown;
}

bool is_compressible(std::string_view content_type) noexcept {
  const std::string_view type = essence_of(content_type);
  const auto is = [type](std::string_view other) { return equal_ignoring_case(type, other); };
  const auto ends_with = [type](std::string_view end) {
    return type.size() > end.size() && equal_ignoring_case(type.substr(type.size() - end.size()), end);
  };
  return equal_ignoring_case(type.substr(0, 5), "text/") || ends_with("+json") || ends_with("+xml") ||
         ends_with("+yaml") || std::any_of(std::begin(compressible), std::end(compressible), is);
}

std::string_view essence_of(std::string_view content_type) noexcept {
  const std::string_view type = trim(content_type.substr(0, content_type.find(';')));
  const std::size_t slash = type.find('/');
  if (slash == std::string_view::npos || !is_token(type.substr(0, slash)) || !is_token(type.substr(slash + 1)))
    return {};
  return type;
}

std::optional<std::string> find_parameter(std::string_view content_type, std::string_view name) {
  std::string_view rest = content_type;
  rest.remove_prefix(std::min(rest.find(';'), rest.size()));
  std::optional<std::string_view> found;
  parameter_text each;
  parameter_step step = next_parameter(rest, each);
  for (; step == parameter_step::found; step = next_parameter(rest, each)) {
    if (!equal_ignoring_case(each.name, name)) continue;
    if (found) return std::nullopt;
    found = each.value;
  }
  if (step == parameter_step::malformed || !found) return std::nullopt;
  return unquote(*found);
}

}  // namespace gyre::http
