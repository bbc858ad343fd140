// src/http/server/router.cpp: leads a request to its handler, through the middleware around it.
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/status_error.hpp>

#include "handler_failure.hpp"
#include "route_tree.hpp"
#include "served_request.hpp"

#include <algorithm>
#include <utility>

namespace gyre::http {
namespace {

// "DELETE, GET, HEAD, OPTIONS"
std::string allowed_methods(const route_list& routes) {
  std::vector<std::string_view> all = {"OPTIONS"};
  for (const auto& each : routes) {
    if (each->method != "*") all.emplace_back(each->method);
    if (each->method == "GET") all.emplace_back("HEAD");
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::string text;
  for (const std::string_view each : all) text.append(text.empty() ? "" : ", ").append(each);
  return text;
}

route* route_of(const route_list& routes, std::string_view method) noexcept {
  for (const auto& each : routes)
    if (each->method == method) return each.get();
  return nullptr;
}

route* route_for(const route_list& routes, std::string_view method) noexcept {
  if (route* const own = route_of(routes, method)) return own;
  if (method == "HEAD")
    if (route* const get = route_of(routes, "GET")) return get;
  return route_of(routes, "*");
}

// Returns the route that a browser's preflight asks about. Fetch standard, "CORS-preflight request".
route* route_asked_about(const route_list& routes, const request& r) noexcept {
  const std::string_view method = r.field("Access-Control-Request-Method");
  return r.method() == "OPTIONS" && !method.empty() ? route_for(routes, method) : nullptr;
}

// Answers OPTIONS with the allowed methods, and other methods with 405.
response answer_without_route(std::string_view method, const std::string& allowed) {
  response made = method == "OPTIONS" ? response::no_content() : response::error(405);
  made.add_field("Allow", allowed);
  return made;
}

}  // namespace

router::router() : tree_(new tree) {
  // "OPTIONS *" concerns the server as a whole, CONNECT asks for a tunnel: RFC 9110 §9.3.7,
  // §9.3.6. Neither names a resource.
  tree_->no_route = [](request& r) -> response {
    if (r.method() == "OPTIONS" && r.target() == "*") return response::no_content();
    throw status_error(r.method() == "CONNECT" ? 501 : 404);
  };
}
void router::destroy(tree* routes) noexcept { delete routes; }

router::tree& router::routes() const noexcept {
  if (tree_ == nullptr) [[unlikely]]
    misuse("an http::router was used that was moved from: add all routes before it is given to a server");
  return *tree_;
}

router& router::add(std::string_view method, std::string_view pattern, handler h) {
  routes().add(method, pattern, std::move(h), {});
  return *this;
}

router& router::use(middleware around) {
  routes().around.push_back(std::move(around));
  routes().link_chains();
  return *this;
}

router& router::mount(std::string_view prefix, router other) {
  routes().mount(prefix, std::move(other.routes()));
  return *this;
}

router& router::not_found(handler h) {
  routes().not_found = std::move(h);
  return *this;
}

router::group router::at(std::string_view prefix) { return {routes(), std::string(prefix)}; }

router::group& router::group::add(std::string_view method, std::string_view pattern, handler h) {
  routes_->add(method, prefix_ + std::string(pattern), std::move(h), around_);
  return *this;
}

router::group& router::group::use(middleware around) {
  around_.push_back(std::move(around));
  return *this;
}

router::group router::group::at(std::string_view prefix) const {
  group inner(*routes_, prefix_ + std::string(prefix));
  inner.around_ = around_;
  return inner;
}

namespace {

// Middleware always sees a response, also when the handler throws a status_error.
task<response> answer_or_status(request& r, handler& last) {
  try {
    started_response started = last.start(r);
    response made = co_await std::move(started).wait();
    check_answer(made);
    co_return made;
  } catch (const status_error& error) {
    co_return response::error(error);
  }
}

}  // namespace

GYRE_CORO_WRAPPER task<response> next_handler::operator()(request& r) const {
  if (left_ == 0) return answer_or_status(r, *last_);
  return (**around_)(r, next_handler(around_ + 1, left_ - 1, *last_));
}

task<response> next_handler::or_error(request& r) const {
  const next_handler here = *this;  // the caller's object may be gone
  try {
    co_return co_await here(r);
  } catch (const status_error& error) {
    co_return response::error(error);
  } catch (const cancelled&) {
    throw;
  } catch (...) {
    if (r.body().failed()) throw;
    report_failure(r);
  }
  co_return response::error(500);
}

namespace {

// Where a request leads.
struct destination {
  const std::vector<const middleware*>& around;
  handler* last;              // null when the path has no handler for the method
  const route_list* at_path;  // null when the path has no routes
};

destination lead_to(handler& last, router::tree& all, served_request& r) {
  r.found_handler(last.made_at());
  return {all.chain, &last, nullptr};
}

void note_route(served_request& r, const route& found, std::string_view rest) noexcept {
  r.found_handler(found.answer.made_at());
  r.found_route(found.pattern, rest);
}

// `search` has found the routes, unless the path is spelled out.
destination lead_to_one_of(const route_list& at_path, const route_search* search, router::tree& all,
                           served_request& r) {
  route* found = route_for(at_path, r.method());
  handler* const last = found != nullptr ? &found->answer : nullptr;
  if (found == nullptr) found = route_asked_about(at_path, r);  // the middleware of its group answers
  if (found == nullptr) return {all.chain, nullptr, &at_path};
  note_route(r, *found, search != nullptr ? search->rest : std::string_view());
  for (std::size_t i = 0; search != nullptr && i < search->count; ++i)
    r.add_path_value(found->names[i], {search->values[i].text, search->values[i].size});
  return {found->chain, last, &at_path};
}

// `at_path` are the routes at a path that is spelled out.
destination find_destination(router::tree& all, const route_list* at_path, served_request& r) {
  const std::string_view path = r.path();
  if (at_path != nullptr) return lead_to_one_of(*at_path, nullptr, all, r);
  if (!path.starts_with('/')) return lead_to(all.no_route, all, r);
  route_search search(path);
  if (find_routes(all.root, search)) return lead_to_one_of(*search.found, &search, all, r);
  return lead_to(all.not_found ? all.not_found : all.no_route, all, r);
}

GYRE_CORO_WRAPPER task<response> pass(request& r, const std::vector<const middleware*>& chain, handler& last) {
  return next_handler(chain.data(), chain.size(), last)(r);
}

task<response> answer_others(request& r, const std::vector<const middleware*>& chain, std::string allowed) {
  handler last = [&allowed](request& asked) { return answer_without_route(asked.method(), allowed); };
  co_return co_await pass(r, chain, last);
}

// Not part of start(), which would need a large frame for it.
[[gnu::noinline]] started_response start_other(request& r, router::tree& all, const route_list* at_path) {
  const destination to = find_destination(all, at_path, served_request::of(r));
  if (to.last == nullptr) return answer_others(r, to.around, allowed_methods(*to.at_path));
  if (to.around.empty()) return to.last->start(r);
  return pass(r, to.around, *to.last);
}

}  // namespace

// Most paths are spelled out in the pattern of a route for their method.
started_response router::start(request& r) {
  tree& all = routes();
  const route_list* const at_path = find_spelled_out(all.root, r.path());
  if (route* const found = at_path == nullptr ? nullptr : route_of(*at_path, r.method())) {
    note_route(served_request::of(r), *found, {});
    if (found->chain.empty()) return found->answer.start(r);
    return pass(r, found->chain, found->answer);
  }
  return start_other(r, all, at_path);
}

}  // namespace gyre::http
