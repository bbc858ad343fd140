// src/http/semantics/precondition.cpp: entity tags, and the order in which conditions are evaluated.
#include <gyre/http/precondition.hpp>

#include "characters.hpp"

#include <algorithm>
#include <charconv>

namespace gyre::http {
namespace {

// etagc. A backslash is an etagc too and escapes nothing, so next_in_list would misparse tags.
bool is_tag_character(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != '"' && byte != 0x7f;
}

// Takes a tag off the front.
std::optional<entity_tag> take_tag(std::string_view& rest) noexcept {
  entity_tag tag;
  tag.weak = rest.starts_with("W/");
  const std::string_view text = rest.substr(tag.weak ? 2 : 0);
  if (!text.starts_with('"')) return std::nullopt;
  const std::size_t end = text.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  tag.opaque = text.substr(1, end - 1);
  if (!std::all_of(tag.opaque.begin(), tag.opaque.end(), &is_tag_character)) return std::nullopt;
  rest = text.substr(end + 1);
  return tag;
}

using comparison = bool (*)(entity_tag, entity_tag) noexcept;

enum class finding { absent, none, found, malformed };

finding find_in_list(std::string_view list, const resource_state& state, comparison equal) noexcept {
  const std::optional<entity_tag> present = state.exists ? parse_entity_tag(state.etag) : std::nullopt;
  finding result = finding::none;
  for (;;) {
    while (!list.empty() && (is_space(list.front()) || list.front() == ',')) list.remove_prefix(1);
    if (list.empty()) return result;
    bool found = false;
    if (list.front() == '*') {  // any representation
      list.remove_prefix(1);
      found = state.exists;
    } else {
      const std::optional<entity_tag> tag = take_tag(list);
      if (!tag) return finding::malformed;
      found = present && equal(*tag, *present);
    }
    list = trim(list);
    if (!list.empty() && list.front() != ',') return finding::malformed;
    if (found) result = finding::found;
  }
}

// A list may be spread over several fields.
finding find_in_fields(std::span<const field> fields, std::string_view name, const resource_state& state,
                       comparison equal) noexcept {
  finding result = finding::absent;
  for (const field& each : fields)
    if (equal_ignoring_case(each.name, name)) result = std::max(result, find_in_list(each.value, state, equal));
  return result;
}

// Also returns nothing when the field occurs twice: that is a list, not a date.
std::optional<unix_seconds> find_date(std::span<const field> fields, std::string_view name, unix_seconds now) noexcept {
  const field* found = nullptr;
  for (const field& each : fields) {
    if (!equal_ignoring_case(each.name, name)) continue;
    if (found != nullptr) return std::nullopt;
    found = &each;
  }
  return found != nullptr ? parse_date(found->value, now) : std::nullopt;
}

bool is_condition(const field& f) noexcept {
  return f.name.size() > 3 && to_lower(f.name[0]) == 'i' && to_lower(f.name[1]) == 'f' && f.name[2] == '-';
}

// Mixes all 64 bits into each bit, without loss.
constexpr std::uint64_t stir(std::uint64_t bits) noexcept {
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15;
  bits = (bits ^ (bits >> 32U)) * odd;
  bits = (bits ^ (bits >> 29U)) * odd;
  return bits ^ (bits >> 32U);
}

}  // namespace

std::optional<entity_tag> parse_entity_tag(std::string_view text) noexcept {
  const std::optional<entity_tag> tag = take_tag(text);
  return text.empty() ? tag : std::nullopt;
}

bool strongly_equal(entity_tag a, entity_tag b) noexcept { return !a.weak && !b.weak && a.opaque == b.opaque; }
bool weakly_equal(entity_tag a, entity_tag b) noexcept { return a.opaque == b.opaque; }

bool is_settled(file_version version, std::int64_t now_ns) noexcept {
  constexpr std::int64_t coarsest_tick = 2'000'000'000;
  return version.modified_ns <= now_ns - coarsest_tick;
}

std::string make_entity_tag(file_version version, bool settled) {
  std::string text = settled ? "\"" : "W/\"";
  const auto append = [&text](std::uint64_t number) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof(digits), number, 16).ptr;
    text.append(digits, static_cast<std::size_t>(end - digits));
  };
  append(version.size);
  text += '-';
  append(stir(static_cast<std::uint64_t>(version.modified_ns) ^ stir(version.inode)));
  if (!settled) text += "-new";
  return text += '"';
}

precondition evaluate_preconditions(std::string_view method, std::span<const field> fields, const resource_state& state,
                                    unix_seconds now) noexcept {
  if (std::none_of(fields.begin(), fields.end(), &is_condition)) return precondition::proceed;  // most requests
  // These methods select no representation: RFC 9110 §13.2.1.
  if (method == "CONNECT" || method == "OPTIONS" || method == "TRACE") return precondition::proceed;
  const bool reads = method == "GET" || method == "HEAD";
  const bool has_date = state.exists && state.last_modified;
  const unix_seconds modified = has_date ? *state.last_modified : 0;

  const finding match = find_in_fields(fields, "If-Match", state, &strongly_equal);
  if (match == finding::none || match == finding::malformed) return precondition::failed;
  if (match == finding::absent) {
    const auto since = find_date(fields, "If-Unmodified-Since", now);
    if (has_date && since && modified > *since) return precondition::failed;
  }

  const finding none_match = find_in_fields(fields, "If-None-Match", state, &weakly_equal);
  if (none_match == finding::found) return reads ? precondition::not_modified : precondition::failed;
  if (none_match == finding::malformed && !reads) return precondition::failed;
  if (none_match == finding::absent && reads) {
    const auto since = find_date(fields, "If-Modified-Since", now);
    if (has_date && since && modified <= *since) return precondition::not_modified;
  }
  return precondition::proceed;
}

bool range_applies(std::string_view if_range, const resource_state& state, unix_seconds now) noexcept {
  if (!state.exists) return false;
  if (const auto tag = parse_entity_tag(if_range)) {
    const auto present = parse_entity_tag(state.etag);
    return present && strongly_equal(*tag, *present);
  }
  // A resource can change again within the same second and keep its Last-Modified date.
  const auto date = parse_date(if_range, now);
  return date && state.last_modified == date && *date < now;
}

}  // namespace gyre::http
