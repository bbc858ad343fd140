// src/http/request.cpp: the parts of a request, found when they are asked for.
#include <gyre/http/cookie.hpp>
#include <gyre/http/media_type.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/status_error.hpp>

#include <stdexcept>

namespace gyre::http {

std::string_view request::field(std::string_view name) const noexcept {
  const http::field* const found = find_field(fields_, name);
  return found == nullptr ? std::string_view() : found->value;
}

std::string_view request::cookie(std::string_view name) const noexcept {
  return find_cookie(fields_, name).value_or(std::string_view());
}

void request::join_upgrades() {
  upgrades_.clear();
  for (const http::field& each : fields_) {
    if (!equal_ignoring_case(each.name, "Upgrade") || each.value.empty()) continue;
    upgrades_.append(upgrades_.empty() ? "" : ", ").append(each.value);
  }
  upgrade_ = upgrades_;
}

std::string_view request::path_parameter(std::string_view name) const {
  for (const path_value& each : path_values_)
    if (each.name == name) return each.value;
  throw std::out_of_range("path_parameter \"" + std::string(name) + "\": the route has none of that name");
}

void request::no_such_resource() { throw status_error(404); }

void request::malformed_parameter(std::string_view name) {
  throw status_error(400, "the parameter \"" + std::string(name) + "\" is not what it has to be");
}

// Views of short strings are invalidated when their vector grows, so it must not grow.
void request::add_path_value(std::string_view name, std::string_view encoded) {
  if (encoded.find('%') == std::string_view::npos) {
    path_values_.push_back({name, encoded});
    return;
  }
  constexpr std::size_t most = 64;
  if (decoded_.capacity() < most) decoded_.reserve(most);
  auto text = percent_decode(encoded);
  if (!text || decoded_.size() == most) throw status_error(400, "the path is malformed");
  path_values_.push_back({name, decoded_.emplace_back(*std::move(text))});
}

std::span<const form_field> request::query_parameters() {
  if (!query_parsed_) {
    auto fields = parse_form(query());
    if (!fields) throw status_error(400, "the query is malformed");
    query_fields_ = *std::move(fields);
    query_parsed_ = true;
  }
  return query_fields_;
}

std::optional<std::string_view> request::query_parameter(std::string_view name) {
  for (const form_field& each : query_parameters())
    if (each.name == name) return each.value;
  return std::nullopt;
}

task<std::vector<form_field>> request::form() {
  const std::string_view type = field("Content-Type");
  constexpr std::string_view expected = "application/x-www-form-urlencoded";
  const std::string_view essence = type.substr(0, type.find_first_of("; \t"));
  if (!equal_ignoring_case(essence, expected)) throw status_error(415, "a form is expected here");
  const std::string text = co_await body_.read_all();
  auto fields = parse_form(text);
  if (!fields) throw status_error(400, "the form is malformed");
  co_return *std::move(fields);
}

task<std::string> request::json_text() {
  const std::string_view type = essence_of(field("Content-Type"));
  constexpr std::string_view suffix = "+json";
  const bool is_json =
      equal_ignoring_case(type, "application/json") ||
      (type.size() > suffix.size() && equal_ignoring_case(type.substr(type.size() - suffix.size()), suffix));
  if (!is_json) throw status_error(415, "application/json is expected here");
  co_return co_await body_.read_all();
}

void request::malformed_json() { throw status_error(400, "this is not the JSON that is expected here"); }

void request::set_attribute(std::string name, std::string value) {
  attributes_.push_back({std::move(name), std::move(value)});
}

std::string_view request::attribute(std::string_view name) const noexcept {
  for (auto each = attributes_.rbegin(); each != attributes_.rend(); ++each)
    if (each->name == name) return each->value;
  return {};
}

}  // namespace gyre::http
