// src/http/exchange/request.cpp: the parts of a request, found when they are asked for.
#include <gyre/http/cookie.hpp>
#include <gyre/http/field_line.hpp>
#include <gyre/http/media_type.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/tasks/task_handle.hpp>

#include "exchange_link.hpp"

#include <stdexcept>
#include <string>

namespace gyre::http {

std::string_view request::field(std::string_view name) const noexcept {
  const http::field* const found = find_field(now_.fields, name);
  return found == nullptr ? std::string_view() : found->value;
}

std::string_view request::cookie(std::string_view name) const noexcept {
  return find_cookie(now_.fields, name).value_or(std::string_view());
}

const secure_session* request::security() const noexcept { return now_.link->security(); }

task<bool> request::send_interim(int status, std::span<const http::field> fields) {
  owner_.check("send_interim");
  constexpr int after_101 = 102;
  if (status < after_101 || status > 199)
    throw std::invalid_argument("send_interim: status " + std::to_string(status) + " is not between 102 and 199");
  for (const http::field& each : fields) {
    for (const std::string_view own : {"Connection", "Content-Length", "Transfer-Encoding"})
      if (equal_ignoring_case(each.name, own))
        throw std::invalid_argument("send_interim: an interim response has no field \"" + std::string(own) + "\"");
    check_field(each.name, each.value);
  }
  co_return co_await now_.link->send_interim(status, fields);
}

std::string_view request::path_parameter(std::string_view name) const {
  for (const path_value& each : lists_.path_values)
    if (each.name == name) return each.value;
  throw std::out_of_range("path_parameter \"" + std::string(name) + "\": the route has none of that name");
}

void request::no_such_resource() { throw status_error(404); }

void request::malformed_parameter(std::string_view name) {
  throw status_error(400, "the value of the query parameter \"" + std::string(name) + "\" is invalid");
}

std::span<const form_field> request::query_parameters() {
  owner_.check("query_parameters");
  if (!now_.query_parsed) {
    auto fields = parse_form(query());
    if (!fields) throw status_error(400, "too many query parameters");
    lists_.query_fields = *std::move(fields);
    now_.query_parsed = true;
  }
  return lists_.query_fields;
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
  if (!equal_ignoring_case(essence, expected))
    throw status_error(415, "the request must have the media type " + std::string(expected));
  const std::string text = co_await body_.read_all();
  auto fields = parse_form(text);
  if (!fields) throw status_error(413, "too many form fields");
  co_return *std::move(fields);
}

task<std::string> request::json_text() {
  const std::string_view type = essence_of(field("Content-Type"));
  constexpr std::string_view suffix = "+json";
  const bool is_json =
      equal_ignoring_case(type, "application/json") ||
      (type.size() > suffix.size() && equal_ignoring_case(type.substr(type.size() - suffix.size()), suffix));
  if (!is_json) throw status_error(415, "the request must have the media type application/json");
  co_return co_await body_.read_all();
}

void request::malformed_json() { throw status_error(400, "invalid JSON for this resource"); }

void request::set_attribute(std::string name, std::string value) {
  owner_.check("set_attribute");
  lists_.attributes.push_back({std::move(name), std::move(value)});
}

std::string_view request::attribute(std::string_view name) const noexcept {
  for (auto each = lists_.attributes.rbegin(); each != lists_.attributes.rend(); ++each)
    if (each->name == name) return each->value;
  return {};
}

void request::adopt(task_handle<void> task) {
  try {
    adopted_.reserve(adopted_.size() + 1);
  } catch (...) {
    task.cancel();
    task.detach();
    throw;
  }
  task.state().add_reference();
  adopted_.push_back(&task.state());
  task.detach();
}

}  // namespace gyre::http
