// src/http/semantics/negotiation.cpp: parses weighted lists of what a client accepts.
#include <gyre/http/media_type.hpp>
#include <gyre/http/negotiation.hpp>

#include "characters.hpp"
#include "parameters.hpp"

#include <algorithm>
#include <cstddef>

namespace gyre::http {
namespace {

constexpr int full_weight = 1000;
constexpr std::string_view identity = "identity";

// An element of such a list, with its weight.
struct choice {
  std::string_view value;       // without parameters
  std::string_view parameters;  // the parameters before the weight
  int weight = full_weight;
};

std::optional<choice> parse_choice(std::string_view element) noexcept {
  choice parsed;
  const std::size_t end = std::min(element.find(';'), element.size());
  parsed.value = trim(element.substr(0, end));
  std::string_view rest = element.substr(end);
  const std::string_view all = rest;
  parsed.parameters = all;
  parameter_text each;
  for (;;) {
    const std::size_t before = all.size() - rest.size();
    const parameter_step step = next_parameter(rest, each);
    if (step == parameter_step::malformed) return std::nullopt;
    if (step == parameter_step::end) return parsed;
    if (!equal_ignoring_case(each.name, "q")) continue;
    const std::optional<int> weight = parse_weight(each.value);
    if (!weight) return std::nullopt;
    parsed.weight = *weight;
    parsed.parameters = all.substr(0, before);
    return parsed;  // anything after the weight does not belong to the type
  }
}

// Calls `visit` for each well-formed element of each field with that name.
template <class Visit>
void for_each_choice(std::span<const field> fields, std::string_view name, Visit visit) noexcept {
  for (const field& each : fields) {
    if (!equal_ignoring_case(each.name, name)) continue;
    std::string_view rest = each.value;
    for (std::string_view element = next_in_list(rest); !element.empty(); element = next_in_list(rest))
      if (const auto parsed = parse_choice(element)) visit(*parsed);
  }
}

// RFC 9110 §8.4.1: two codings have an alias.
std::string_view first_name(std::string_view coding) noexcept {
  if (equal_ignoring_case(coding, "x-gzip")) return "gzip";
  if (equal_ignoring_case(coding, "x-compress")) return "compress";
  return coding;
}

// Returns nothing when the fields do not mention the coding, not even by a star.
std::optional<int> weight_of_coding(std::span<const field> fields, std::string_view coding) noexcept {
  std::optional<int> named;
  std::optional<int> any;
  for_each_choice(fields, "Accept-Encoding", [&](const choice& each) {
    if (each.value == "*") {
      any = any.value_or(each.weight);
    } else if (equal_ignoring_case(first_name(each.value), first_name(coding))) {
      named = named.value_or(each.weight);
    }
  });
  return named ? named : any;
}

// True if each parameter that the client named is a parameter of the offered type. `count` is their number.
bool has_parameters(std::string_view offered, std::string_view wanted, int& count) noexcept {
  parameter_text want;
  for (count = 0; next_parameter(wanted, want) == parameter_step::found; ++count) {
    std::string_view rest = offered.substr(std::min(offered.find(';'), offered.size()));
    parameter_text have;
    bool found = false;
    while (!found && next_parameter(rest, have) == parameter_step::found)
      found = equal_ignoring_case(have.name, want.name) && same_meaning(have.value, want.value);
    if (!found) return false;
  }
  return true;
}

// Returns how specifically a media range matches a type, or -1 when it does not match.
int precision(const choice& range, std::string_view offered) noexcept {
  constexpr int subtype_named = 2'000'000;  // larger than any possible number of parameters
  constexpr int type_named = 1'000'000;
  const std::string_view type = essence_of(offered);
  int parameters = 0;
  if (!has_parameters(offered, range.parameters, parameters)) return -1;
  if (equal_ignoring_case(range.value, type)) return subtype_named + parameters;
  if (range.value == "*/*") return parameters;
  const std::size_t slash = range.value.find('/');
  if (slash == std::string_view::npos || range.value.substr(slash) != "/*") return -1;
  return equal_ignoring_case(range.value.substr(0, slash + 1), type.substr(0, slash + 1)) ? type_named + parameters
                                                                                          : -1;
}

// The weight of the most specific range that matches the type.
int weight_of_type(std::span<const field> fields, std::string_view offered) noexcept {
  int weight = 0;
  int best = -1;
  for_each_choice(fields, "Accept", [&](const choice& each) {
    const int exact = precision(each, offered);
    if (exact <= best) return;
    best = exact;
    weight = each.weight;
  });
  return weight;
}

bool has_choice(std::span<const field> fields, std::string_view name) noexcept {
  bool any = false;
  for_each_choice(fields, name, [&any](const choice&) { any = true; });
  return any;
}

}  // namespace

std::optional<int> parse_weight(std::string_view text) noexcept {
  if (text.empty() || text.size() > 5 || text == ".") return std::nullopt;
  int weight = 0;
  if (text.front() != '.') {
    if (text.front() != '0' && text.front() != '1') return std::nullopt;
    weight = text.front() == '1' ? full_weight : 0;
    text.remove_prefix(1);
  }
  if (!text.empty() && text.front() != '.') return std::nullopt;
  int unit = full_weight;
  for (const char c : text.substr(std::min<std::size_t>(1, text.size()))) {
    unit /= 10;
    if (c < '0' || c > '9' || unit == 0) return std::nullopt;
    weight += unit * (c - '0');
  }
  return weight <= full_weight ? std::optional(weight) : std::nullopt;
}

std::string_view choose_coding(std::span<const field> fields, std::span<const std::string_view> offered) noexcept {
  std::string_view best;
  int best_weight = 0;
  for (const std::string_view each : offered) {
    const int weight = weight_of_coding(fields, each).value_or(0);
    if (weight <= best_weight) continue;
    best = each;
    best_weight = weight;
  }
  // If it is not mentioned, identity is acceptable as a last resort.
  const std::optional<int> weight = weight_of_coding(fields, identity);
  if (weight ? *weight > best_weight : best.empty()) return identity;
  return best;
}

std::string_view choose_media_type(std::span<const field> fields, std::span<const std::string_view> offered) noexcept {
  if (offered.empty()) return {};
  if (!has_choice(fields, "Accept")) return offered.front();
  std::string_view best;
  int best_weight = 0;
  for (const std::string_view each : offered) {
    const int weight = weight_of_type(fields, each);
    if (weight <= best_weight) continue;
    best = each;
    best_weight = weight;
  }
  return best;
}

}  // namespace gyre::http
