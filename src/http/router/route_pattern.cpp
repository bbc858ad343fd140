// src/http/router/route_pattern.cpp: refuses what looks like a pattern and would match nothing.
#include "route_pattern.hpp"

#include "semantics/characters.hpp"

#include <algorithm>
#include <stdexcept>

namespace gyre::http {
namespace {

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }
std::string in_braces(std::string_view name, const char* after = "") {
  return "\"{" + std::string(name.empty() ? "name" : name) + after + "}\"";
}

// A pattern, or a prefix of patterns, whose segments are examined.
struct examined {
  const char* what;
  std::string_view text;

  [[noreturn]] void refuse(const std::string& why) const {
    throw std::invalid_argument(what + (' ' + quoted(text)) + ": " + why);
  }
};

bool is_name_character(char c) noexcept { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; }

// The name in "*name", ":name", "<type:name>".
std::string_view name_in(std::string_view text) noexcept {
  const auto begin = std::find_if(text.begin(), text.end(), is_name_character);
  return {begin, std::find_if_not(begin, text.end(), is_name_character)};
}

void check_name(const examined& all, std::string_view name) {
  if (name.empty()) all.refuse("a parameter needs a name");
  if (name.find_first_of("{}") != std::string_view::npos)
    all.refuse("a name has no braces: a parameter is a whole segment");
  if (name == "$") all.refuse("leave out \"{$}\": a pattern always matches the whole path");
  if (name.starts_with('*')) all.refuse("write " + in_braces(name_in(name), "...") + " for the rest of the path");
  if (const auto colon = name.find(':'); colon != std::string_view::npos) {
    const std::string_view own = name.substr(0, colon);
    const std::string_view type = name.substr(colon + 1);
    if (type == "path" || type.starts_with('*') || type.starts_with(".*") || type.starts_with(".+"))
      all.refuse("write " + in_braces(own, "...") + " for the rest of the path");
    all.refuse("a parameter has no type: write " + in_braces(own) + ", and in the handler path_parameter<int>(" +
               quoted(own) + ")");
  }
  if (name.ends_with('?'))
    all.refuse("a parameter is not optional: write " + in_braces(name_in(name)) + ", and add a route without it");
  if (!std::all_of(name.begin(), name.end(), is_name_character))
    all.refuse("the name of a parameter consists of letters, digits, \"_\" and \"-\"");
}

// The notations of other routers for a parameter.
void check_literal(const examined& all, std::string_view segment) {
  const bool has_name = segment.size() > 1 && is_name_character(segment[1]);
  if (segment.starts_with(':') && has_name)
    all.refuse("write " + in_braces(name_in(segment)) + " for a parameter, not " + quoted(segment));
  if (segment.starts_with('*'))
    all.refuse("write " + in_braces(name_in(segment), "...") + " for the rest of the path, not " + quoted(segment));
  if (segment.starts_with('<') && segment.ends_with('>')) {
    const auto colon = segment.find(':');
    all.refuse("write " + in_braces(name_in(segment.substr(colon == std::string_view::npos ? 0 : colon))) +
               " for a parameter, not " + quoted(segment));
  }
  if (segment == "." || segment == "..") all.refuse("clients resolve \".\" and \"..\" before they send a path");
  if (segment.find_first_of("?#") != std::string_view::npos)
    all.refuse("a query or a fragment is not part of a pattern: the handler reads query_parameter(\"name\")");
  if (segment.find_first_of("{}") != std::string_view::npos) all.refuse("a parameter is a whole segment, \"{name}\"");
}

// Paths are decoded before they are compared, so nothing would match an escape.
void check_escapes(const examined& all, std::string_view segment) {
  std::string decoded;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const bool escape =
        segment[i] == '%' && segment.size() - i > 2 && hex_value(segment[i + 1]) >= 0 && hex_value(segment[i + 2]) >= 0;
    decoded += escape ? static_cast<char>(hex_value(segment[i + 1]) * 16 + hex_value(segment[i + 2])) : segment[i];
    if (escape) i += 2;
  }
  if (decoded.size() == segment.size()) return;
  if (decoded.find('/') != std::string::npos) all.refuse("only a parameter matches an encoded slash: write \"{name}\"");
  all.refuse("paths are compared decoded: write " + quoted(decoded) + ", not " + quoted(segment));
}

std::string without_doubled_slashes(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '/' || !out.ends_with('/')) out += c;
  return out;
}

// "GET /a", "http://host/a".
void check_beginning(const examined& all) {
  if (all.text.find("://") != std::string_view::npos)
    all.refuse("a scheme and a host are not part of it: write the path");
  if (const auto slash = all.text.find(" /"); slash != std::string_view::npos && slash == all.text.find(' '))
    all.refuse("a method is not part of it: write add(" + quoted(all.text.substr(0, slash)) + ", " +
               quoted(all.text.substr(slash + 1)) + ", ...)");
}

std::vector<pattern_segment> split(const examined& all) {
  if (!all.text.starts_with('/')) check_beginning(all);
  if (!all.text.starts_with('/'))
    all.refuse("it must begin with \"/\"" +
               (all.text.empty() ? std::string() : ": write " + quoted('/' + std::string(all.text))));
  if (all.text.find("//") != std::string_view::npos)
    all.refuse("it has an empty segment: write " + quoted(without_doubled_slashes(all.text)));
  std::vector<pattern_segment> segments;
  std::size_t parameters = 0;
  for (std::string_view rest = all.text; !rest.empty();) {
    rest.remove_prefix(1);
    std::string_view segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(segment.size());
    if (!segment.starts_with('{') || !segment.ends_with('}')) {
      check_literal(all, segment);
      check_escapes(all, segment);
      segments.push_back({.text = segment});
      continue;
    }
    segment = segment.substr(1, segment.size() - 2);
    const bool is_rest = segment.ends_with("...");
    if (is_rest) segment.remove_suffix(3);
    check_name(all, segment);
    if (is_rest && !rest.empty()) all.refuse("\"{name...}\" must be the last segment");
    if (++parameters > max_parameters) all.refuse("it has too many parameters");
    for (const pattern_segment& each : segments)
      if (each.is != pattern_segment::kind::literal && each.text == segment)
        all.refuse("two parameters have the same name");
    segments.push_back(
        {.is = is_rest ? pattern_segment::kind::rest : pattern_segment::kind::parameter, .text = segment});
  }
  return segments;
}

}  // namespace

std::vector<pattern_segment> split_pattern(std::string_view pattern) {
  return split({.what = "route", .text = pattern});
}

std::vector<pattern_segment> split_prefix(std::string_view prefix) {
  const examined all{.what = "prefix", .text = prefix};
  if (prefix.starts_with('/') && prefix.ends_with('/')) {
    std::string instead = without_doubled_slashes(prefix);
    instead.pop_back();
    all.refuse("each pattern below it begins with \"/\": write " + quoted(instead));
  }
  std::vector<pattern_segment> segments = split(all);
  if (segments.back().is == pattern_segment::kind::rest) all.refuse("\"{name...}\" must be the last segment");
  return segments;
}

void check_prefix(std::string_view prefix) {
  if (!prefix.empty()) (void)split_prefix(prefix);
}

}  // namespace gyre::http
