// src/http/semantics/target.cpp: splits, decodes and normalizes targets, each in one place: nothing is decoded twice.
#include <gyre/http/target.hpp>

#include "characters.hpp"

#include <algorithm>
#include <utility>

namespace gyre::http {
namespace {

// Returns the byte that "%41" at the beginning of the text encodes, or -1.
int encoded_byte(std::string_view text) noexcept {
  if (text.size() < 3) return -1;
  const int high = hex_value(text[1]);
  const int low = hex_value(text[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// Appends the decoded text. Returns false when it is malformed.
bool decode_onto(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int byte = encoded_byte(text.substr(i));
    if (byte < 0) return false;
    out += static_cast<char>(byte);
    i += 2;
  }
  return true;
}

// A name or a value of a form.
std::string decode_form_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int byte = text[i] == '%' ? encoded_byte(text.substr(i)) : -1;
    if (byte < 0) {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

bool may_stand(char c, encode_for where) noexcept {
  const bool unreserved = is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
  if (unreserved) return true;
  // For a query: neither the characters that separate its fields, nor the plus that means a space.
  constexpr std::string_view in_segment = "!$&'()*+,;=:@";
  constexpr std::string_view in_query = "!$'()*,;:@/?";
  return (where == encode_for::path_segment ? in_segment : in_query).find(c) != std::string_view::npos;
}

void append_encoded(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += digits[byte / 16U];
  out += digits[byte % 16U];
}

// Where the authority of a URI reference begins, or its size when it has none.
std::size_t begin_of_authority(std::string_view text) noexcept {
  const std::size_t slashes = text.find("//");
  if (slashes == std::string_view::npos) return text.size();
  const std::string_view scheme = text.substr(0, slashes);
  const bool has_scheme = scheme.ends_with(':') && scheme.find_first_of("/?#") == std::string_view::npos;
  return scheme.empty() || has_scheme ? slashes + 2 : text.size();
}

}  // namespace

target_parts split_target(std::string_view target) noexcept {
  if (target.starts_with('/')) {
    const std::size_t mark = target.find('?');
    if (mark == std::string_view::npos) return {.path = target};
    return {.path = target.substr(0, mark), .query = target.substr(mark + 1)};
  }
  target_parts parts;
  if (target.empty() || target == "*") {
    parts.path = target;
    return parts;
  }
  const std::size_t scheme = target.find("://");
  if (scheme == std::string_view::npos) {  // the form of CONNECT
    parts.authority = target;
    return parts;
  }
  target.remove_prefix(scheme + 3);
  const std::size_t end = std::min(target.find_first_of("/?"), target.size());
  parts.authority = target.substr(0, end);
  target.remove_prefix(end);
  const std::size_t mark = target.find('?');
  parts.path = target.substr(0, mark);
  if (parts.path.empty()) parts.path = "/";
  if (mark != std::string_view::npos) parts.query = target.substr(mark + 1);
  return parts;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  if (!decode_onto(out, text)) return std::nullopt;
  return out;
}

std::string percent_encode(std::string_view text, encode_for where) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (may_stand(c, where))
      out += c;
    else
      append_encoded(out, c);
  }
  return out;
}

std::string encode_reference(std::string_view text) {
  const std::size_t host = begin_of_authority(text);
  const std::size_t host_end = std::min(text.find_first_of("/?#", host), text.size());
  bool in_fragment = false;
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    bool stays = may_stand(c, encode_for::path_segment) || c == '/' || c == '?';
    if (c == '%') stays = text.size() - i >= 3 && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0;
    if (c == '#') stays = !std::exchange(in_fragment, true);
    if (c == '[' || c == ']') stays = i >= host && i < host_end;
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) stays = true;
    if (stays)
      out += c;
    else
      append_encoded(out, c);
  }
  return out;
}

std::optional<std::string> normalize_path(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  std::string out;
  out.reserve(path.size());
  bool ends_with_slash = true;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find('/'), path.size());
    std::string segment;
    if (!decode_onto(segment, path.substr(0, end))) return std::nullopt;
    path.remove_prefix(end);
    if (segment.find_first_of(std::string_view("/\0", 2)) != std::string::npos) return std::nullopt;
    ends_with_slash = segment.empty() || segment == "." || segment == "..";
    if (segment == "..") {
      if (out.empty()) return std::nullopt;
      out.resize(out.rfind('/'));
    } else if (!ends_with_slash) {
      out.append("/").append(segment);
    }
  }
  if (ends_with_slash) out += '/';
  return out;
}

std::expected<std::vector<form_field>, form_error> parse_form(std::string_view text, std::size_t limit) {
  std::vector<form_field> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    if (all.size() == limit) return std::unexpected(form_error::too_many);
    const std::size_t equals = part.find('=');
    form_field& field = all.emplace_back();
    field.name = decode_form_text(part.substr(0, equals));
    if (equals != std::string_view::npos) field.value = decode_form_text(part.substr(equals + 1));
  }
  return all;
}

}  // namespace gyre::http
