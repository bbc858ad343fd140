// src/http/router/router.cpp: leads a request to its handler, through the middleware around it.
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/status_error.hpp>

#include "exchange/handler_failure.hpp"
#include "exchange/served_request.hpp"
#include "route_tree.hpp"

#include <algorithm>
#include <utility>

namespace gyre::http {
namespace {

// "DELETE, GET, HEAD, OPTIONS"
std::string listed(std::vector<std::string_view>& methods) {
  if (std::find(methods.begin(), methods.end(), "GET") != methods.end()) methods.emplace_back("HEAD");
  methods.emplace_back("OPTIONS");
  std::sort(methods.begin(), methods.end());
  methods.erase(std::unique(methods.begin(), methods.end()), methods.end());
  std::string text;
  for (const std::string_view each : methods) text.append(text.empty() ? "" : ", ").append(each);
  return text;
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
  routes().add(method, pattern, std::move(h), nullptr);
  return *this;
}

router& router::use(middleware around) {
  routes().use(std::move(around));
  return *this;
}

router& router::mount(std::string_view prefix, router other) {
  routes().mount(prefix, std::move(other.routes()));
  other.routes().is_mounted = true;
  routes().mounted.push_back(std::move(other.tree_));
  return *this;
}

router& router::not_found(handler h) {
  routes().not_found = std::move(h);
  return *this;
}

router::group router::at(std::string_view prefix) {
  check_prefix(prefix);
  return {routes(), std::string(prefix), nullptr, prefix.empty() ? nullptr : &routes().cover(prefix, nullptr)};
}

router::tree& router::group::routes() const noexcept {
  if (routes_->is_mounted) [[unlikely]]
    misuse("a group of an http::router was used after its router had been mounted: add its routes before that");
  return *routes_;
}

router::group& router::group::add(std::string_view method, std::string_view pattern, handler h) {
  if (!pattern.empty() && !pattern.starts_with('/')) (void)split_pattern(pattern);  // which refuses it
  routes().add(method, prefix_ + std::string(pattern), std::move(h), inner_);
  return *this;
}

router::group& router::group::use(middleware around) {
  inner_ = routes().surround(inner_, std::move(around));
  if (covered_ != nullptr) router::tree::cover_also(*covered_, inner_);
  return *this;
}

router::group router::group::at(std::string_view prefix) const {
  check_prefix(prefix);
  std::string whole = prefix_ + std::string(prefix);
  covered_prefix* const covered = prefix.empty() ? nullptr : &routes().cover(whole, inner_);
  return {routes(), std::move(whole), inner_, covered};
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
  const middleware_chain* around;
  handler* last;  // null when the path has no handler for the method
};

void note_route(served_request& r, const route& found, std::string_view rest) noexcept {
  r.found_handler(found.answer.made_at());
  r.found_route(found.pattern, rest);
}

// Returns the method that a browser's preflight asks about. Fetch standard, "CORS-preflight request".
std::string_view method_asked_about(const request& r) noexcept {
  return r.method() == "OPTIONS" ? r.field("Access-Control-Request-Method") : std::string_view();
}

// The middleware of a prefix may ask for the values of the parameters in it.
void add_values(served_request& r, const covered_prefix& at) {
  for (const covered_prefix::parameter& each : at.parameters) {
    std::string_view rest = r.path();
    for (std::size_t i = 0; i < each.segment; ++i) (void)take_segment(rest);
    r.add_path_value(each.name, take_segment(rest));
  }
}

destination find_destination(router::tree& all, served_request& r) {
  handler& no_route = all.not_found && r.path().starts_with('/') ? all.not_found : all.no_route;
  const middleware_chain* around = &all.chain;
  if (r.path().starts_with('/')) {
    route_search search(r.path(), r.method(), method_asked_about(r));
    if (find_route(all.root, search)) {
      note_route(r, *search.found, search.rest);
      for (std::size_t i = 0; i < search.count; ++i)
        r.add_path_value(search.found->names[i], {search.values[i].text, search.values[i].size});
      // The middleware of its group answers a preflight.
      return {search.found->chain, search.handles_method ? &search.found->answer : nullptr};
    }
    if (search.covered != nullptr) {
      around = &search.covered->chain;
      add_values(r, *search.covered);
    }
    if (search.path_exists) return {around, nullptr};
  }
  r.found_handler(no_route.made_at());
  return {around, &no_route};
}

std::string methods_at(const router::tree& all, std::string_view path) {
  std::vector<std::string_view> methods;
  route_search search(path, {});
  search.methods = &methods;
  (void)find_route(all.root, search);
  return listed(methods);
}

GYRE_CORO_WRAPPER task<response> pass(request& r, const middleware_chain& chain, handler& last) {
  return next_handler(chain.data(), chain.size(), last)(r);
}

task<response> answer_others(request& r, const middleware_chain& chain, std::string allowed) {
  handler last = [&allowed](request& asked) { return answer_without_route(asked.method(), allowed); };
  co_return co_await pass(r, chain, last);
}

started_response start_route(request& r, route& found) {
  note_route(served_request::of(r), found, {});
  if (found.chain->empty()) return found.answer.start(r);
  return pass(r, *found.chain, found.answer);
}

// Not part of start(), which would need a large frame for it.
[[gnu::noinline]] started_response start_other(request& r, router::tree& all, const route_list* at_path) {
  route* const spelled_out = at_path == nullptr ? nullptr : route_for(*at_path, r.method());
  if (spelled_out != nullptr) return start_route(r, *spelled_out);
  const destination to = find_destination(all, served_request::of(r));
  if (to.last == nullptr) return answer_others(r, *to.around, methods_at(all, r.path()));
  if (to.around->empty()) return to.last->start(r);
  return pass(r, *to.around, *to.last);
}

}  // namespace

// Most paths are spelled out in the pattern of a route for their method.
started_response router::start(request& r) {
  tree& all = routes();
  const route_list* const at_path = find_spelled_out(all.root, r.path());
  if (route* const found = at_path == nullptr ? nullptr : route_of(*at_path, r.method())) return start_route(r, *found);
  return start_other(r, all, at_path);
}

}  // namespace gyre::http
