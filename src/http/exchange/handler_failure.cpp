// src/http/exchange/handler_failure.cpp: names a request for error reports.
#include <gyre/loop/event_loop.hpp>

#include "handler_failure.hpp"
#include "served_request.hpp"

#include <cstddef>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gyre::http {
namespace {

// "GET /path". Neither part contains control characters.
std::string name_in_reports(std::string_view method, std::string_view target, std::string_view route) {
  constexpr std::size_t max_target = 200;
  std::string text(method);
  text.append(" ").append(target.substr(0, max_target));
  if (!route.empty() && route != target) text.append(" (route ").append(route).append(")");
  return text;
}

}  // namespace

void check_answer(const response& made) {
  if (made.was_moved_from()) throw std::logic_error("the handler returned a response that was moved from");
}

void report_failure(const request& r, const char* kind) noexcept {
  std::string name;
  try {
    name = name_in_reports(r.method(), r.target(), r.route_pattern());
  } catch (const std::bad_alloc&) {
    name = r.method().substr(0, 15);  // short enough for the small-string buffer
  }
  event_loop::report({std::current_exception(), name, served_request::of(r).handled_at(), kind, "handled at"});
}

}  // namespace gyre::http
