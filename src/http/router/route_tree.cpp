// src/http/router/route_tree.cpp: builds the tree, and finds paths in it.
#include <gyre/http/field.hpp>
#include <gyre/http/parse_error.hpp>

#include "route_tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gyre::http {
namespace {

[[noreturn]] void refuse(std::string_view pattern, const char* why) {
  throw std::invalid_argument("route \"" + std::string(pattern) + "\": " + why);
}

constexpr std::size_t few = 4;  // children that are compared one by one

route_node* find_child(const route_node& node, std::string_view text) noexcept {
  if (node.children.size() <= few) {
    for (const auto& each : node.children)
      if (each->text == text) return each.get();
    return nullptr;
  }
  const auto place = node.by_text.find(text);
  return place != node.by_text.end() ? place->second : nullptr;
}

route_node& child_of(route_node& node, std::string_view text) {
  if (route_node* const known = find_child(node, text)) return *known;
  node.children.push_back(std::make_unique<route_node>());
  route_node& added = *node.children.back();
  added.text = text;
  added.has_percent = text.find('%') != std::string_view::npos;
  if (node.children.size() > few + 1)
    node.by_text.emplace(added.text, &added);
  else if (node.children.size() == few + 1)
    for (const auto& each : node.children) node.by_text.emplace(each->text, each.get());
  return added;
}

// Returns the node of a pattern without its rest. Creates the nodes on the way.
route_node& node_of(route_node& root, const std::vector<pattern_segment>& segments) {
  route_node* node = &root;
  for (const pattern_segment& each : segments) {
    if (each.is == pattern_segment::kind::literal) {
      node = &child_of(*node, each.text);
    } else if (each.is == pattern_segment::kind::parameter) {
      if (!node->parameter) node->parameter = std::make_unique<route_node>();
      node = node->parameter.get();
    }
  }
  return *node;
}

template <class F>
void for_each_route(route_node& node, const F& f) {
  for (auto* const list : {&node.routes, &node.rest})
    for (auto& each : *list) f(*each);
  for (auto& each : node.children) for_each_route(*each, f);
  if (node.parameter) for_each_route(*node.parameter, f);
}

}  // namespace

std::string_view take_segment(std::string_view& rest) noexcept {
  rest.remove_prefix(1);
  const std::string_view segment = rest.substr(0, rest.find('/'));
  rest.remove_prefix(segment.size());
  return segment;
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

void router::tree::add(std::string_view method, std::string_view pattern, handler&& answer, const surrounding* inner) {
  if (method != "*" && !is_token(method)) refuse(pattern, "the method is not a token");
  for (const std::string_view known : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
    if (method != known && equal_ignoring_case(method, known))
      refuse(pattern, ("methods are case-sensitive: write \"" + std::string(known) + '"').c_str());
  if (method.size() > head_limits::max_method_size) refuse(pattern, "the method is longer than 32 bytes");
  if (!answer) refuse(pattern, "it has no handler");
  const std::vector<pattern_segment> segments = split_pattern(pattern);
  route_node& node = node_of(root, segments);
  route_list& place = segments.back().is == pattern_segment::kind::rest ? node.rest : node.routes;
  if (route_of(place, method) != nullptr)
    throw std::logic_error("route \"" + std::string(pattern) + "\": there is one for " + std::string(method) +
                           " already");
  auto added = std::make_unique<route>();
  added->method = method;
  added->pattern = pattern;
  added->answer = std::move(answer);
  added->around = inner;
  added->chain = inner == nullptr ? &chain : &inner->chain;
  for (const pattern_segment& each : segments)
    if (each.is != pattern_segment::kind::literal) added->names.emplace_back(each.text);
  place.push_back(std::move(added));
}

const surrounding* router::tree::surround(const surrounding* outer, middleware&& more) {
  surroundings.push_back(std::make_unique<surrounding>(outer, std::move(more)));
  surrounding& added = *surroundings.back();
  added.chain = outer == nullptr ? chain : outer->chain;
  added.chain.push_back(&added.own);
  return &added;
}

void router::tree::use(middleware&& more) {
  around.push_back(std::move(more));
  chain.clear();
  for (const middleware& each : around) chain.push_back(&each);
  for (const auto& each : surroundings) {
    each->chain = each->outer == nullptr ? chain : each->outer->chain;
    each->chain.push_back(&each->own);
  }
  for (const auto& each : covered) {
    each->chain = chain;
    for (const surrounding* inner : each->inside) each->chain.push_back(&inner->own);
  }
}

covered_prefix& router::tree::cover(std::string_view prefix, const surrounding* inner) {
  const std::vector<pattern_segment> segments = split_prefix(prefix);
  route_node& node = node_of(root, segments);
  if (node.covered == nullptr) {
    covered.push_back(std::make_unique<covered_prefix>());
    node.covered = covered.back().get();
    node.covered->prefix = prefix;
    node.covered->chain = chain;
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].is == pattern_segment::kind::literal) continue;
    covered_prefix::parameter named{.segment = i, .name = std::string(segments[i].text)};
    auto& all = node.covered->parameters;
    if (std::find(all.begin(), all.end(), named) == all.end()) all.push_back(std::move(named));
  }
  cover_also(*node.covered, inner);
  return *node.covered;
}

// Groups that were made from the same one have its middleware in common.
void router::tree::cover_also(covered_prefix& at, const surrounding* inner) {
  if (inner == nullptr || std::find(at.inside.begin(), at.inside.end(), inner) != at.inside.end()) return;
  cover_also(at, inner->outer);
  at.inside.push_back(inner);
  at.chain.push_back(&inner->own);
}

void router::tree::mount(std::string_view prefix, tree&& other) {
  check_prefix(prefix);
  const surrounding* outer = nullptr;
  for (middleware& each : other.around) outer = surround(outer, std::move(each));
  if (!prefix.empty()) cover(prefix, outer);
  for (auto& each : other.surroundings) {
    if (each->outer == nullptr) each->outer = outer;
    each->chain = each->outer == nullptr ? chain : each->outer->chain;
    each->chain.push_back(&each->own);
    surroundings.push_back(std::move(each));
  }
  const auto inside = [outer](const surrounding* inner) { return inner == nullptr ? outer : inner; };
  for (const auto& each : other.covered) {
    covered_prefix& here = cover(std::string(prefix) + each->prefix, outer);
    for (const surrounding* inner : each->inside) cover_also(here, inner);
  }
  for_each_route(other.root, [&](route& each) {
    add(each.method, std::string(prefix) + each.pattern, std::move(each.answer), inside(each.around));
  });
}

namespace {

// Returns true if the search ends at these routes.
bool ends_at(const route_list& routes, route_search& search) {
  if (routes.empty()) return false;
  search.path_exists = true;
  if (search.methods != nullptr) {
    for (const auto& each : routes) search.methods->emplace_back(each->method);
    return false;
  }
  search.found = route_for(routes, search.method);
  search.handles_method = search.found != nullptr;
  if (search.found == nullptr && !search.asked.empty()) search.found = route_for(routes, search.asked);
  return search.found != nullptr;
}

// `begin` is the position of segment `depth` in the path.
bool find_node(const route_node& node, std::size_t depth, std::size_t begin, route_search& search) {
  ++search.visited;
  if (node.covered != nullptr && (search.covered == nullptr || depth > search.covered_depth)) {
    search.covered = node.covered;
    search.covered_depth = depth;
  }
  const std::string_view path = search.path.path();
  const bool ends_here = begin == path.size();
  if (ends_here && ends_at(node.routes, search)) return true;
  if (!ends_here && (node.parameter || !node.children.empty())) {
    const path_segments::segment& segment = search.path.get(depth, begin);
    if (segment.decoded != nullptr)
      if (const route_node* const child = find_child(node, {segment.decoded, segment.decoded_size}))
        if (find_node(*child, depth + 1, segment.end, search)) return true;
    if (node.parameter && segment.sent_size > 0) {
      search.values[search.count++] = {.text = segment.sent, .size = segment.sent_size};
      if (find_node(*node.parameter, depth + 1, segment.end, search)) return true;
      --search.count;
    }
  }
  if (!ends_at(node.rest, search)) return false;
  const std::string_view rest = path.substr(begin);
  const std::string_view behind = ends_here ? rest : rest.substr(1);
  search.values[search.count++] = {.text = behind.data(), .size = behind.size()};
  search.rest = ends_here ? std::string_view("/") : rest;
  return true;
}

}  // namespace

// A segment with a percent sign has to be decoded, even if a text is the same.
const route_list* find_spelled_out(const route_node& root, std::string_view path) noexcept {
  if (!path.starts_with('/')) return nullptr;
  const route_node* node = &root;
  while (!path.empty() && node != nullptr) {
    node = find_child(*node, take_segment(path));
    if (node != nullptr && node->has_percent) return nullptr;
  }
  return node == nullptr || node->routes.empty() ? nullptr : &node->routes;
}

bool find_route(const route_node& root, route_search& search) { return find_node(root, 0, 0, search); }

}  // namespace gyre::http
