// src/http/server/route_tree.cpp: builds the tree, and finds paths in it.
#include <gyre/http/field.hpp>

#include "route_tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gyre::http {
namespace {

[[noreturn]] void refuse(std::string_view pattern, const char* why) {
  throw std::invalid_argument("route \"" + std::string(pattern) + "\": " + why);
}

// Takes the next segment and the slash before it off `rest`. Returns the segment without the slash.
std::string_view take_segment(std::string_view& rest) noexcept {
  rest.remove_prefix(1);
  const std::string_view segment = rest.substr(0, rest.find('/'));
  rest.remove_prefix(segment.size());
  return segment;
}

// Sort order of children. Most texts differ in size already, so an attacker's long segment is not compared with each.
bool goes_before(std::string_view a, std::string_view b) noexcept {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

auto place_among(const std::vector<std::unique_ptr<route_node>>& children, std::string_view text) noexcept {
  return std::lower_bound(children.begin(), children.end(), text,
                          [](const auto& child, std::string_view wanted) { return goes_before(child->text, wanted); });
}

route_node& child_of(route_node& node, std::string_view text) {
  const auto place = place_among(node.children, text);
  if (place != node.children.end() && (*place)->text == text) return **place;
  auto added = std::make_unique<route_node>();
  added->text = text;
  added->has_percent = text.find('%') != std::string_view::npos;
  return **node.children.insert(place, std::move(added));
}

const route_node* find_child(const route_node& node, std::string_view text) noexcept {
  constexpr std::size_t few = 4;
  if (node.children.size() <= few) {
    for (const auto& each : node.children)
      if (each->text == text) return each.get();
    return nullptr;
  }
  const auto place = place_among(node.children, text);
  return place != node.children.end() && (*place)->text == text ? place->get() : nullptr;
}

// Returns the name inside the braces, without the dots of a rest parameter.
std::string_view parameter_name(std::string_view pattern, std::string_view segment, bool& is_rest,
                                const std::vector<std::string>& names) {
  std::string_view name = segment.substr(1, segment.size() - 2);
  is_rest = name.ends_with("...");
  if (is_rest) name.remove_suffix(3);
  if (name.empty()) refuse(pattern, "a parameter needs a name");
  if (name.find_first_of("{}") != std::string_view::npos) refuse(pattern, "a name has no braces");
  if (names.size() == route_search::most) refuse(pattern, "it has too many parameters");
  if (std::find(names.begin(), names.end(), name) != names.end()) refuse(pattern, "two parameters have the same name");
  return name;
}

bool is_parameter(std::string_view segment) noexcept { return segment.starts_with('{') && segment.ends_with('}'); }

// Returns the list that holds the routes of a pattern. Creates its nodes.
route_list& place_of(route_node& root, std::string_view pattern, std::vector<std::string>& names) {
  if (!pattern.starts_with('/')) refuse(pattern, "it must begin with \"/\"");
  route_node* node = &root;
  std::string_view rest = pattern;
  while (!rest.empty()) {
    const std::string_view segment = take_segment(rest);
    if (is_parameter(segment)) {
      bool is_rest = false;
      names.emplace_back(parameter_name(pattern, segment, is_rest, names));
      if (is_rest && !rest.empty()) refuse(pattern, "\"{name...}\" must be the last segment");
      if (is_rest) return node->rest;
      if (!node->parameter) node->parameter = std::make_unique<route_node>();
      node = node->parameter.get();
    } else {
      if (segment.find_first_of("{}?#") != std::string_view::npos)
        refuse(pattern, "a parameter is a whole segment, \"{name}\", and a query is not part of a pattern");
      node = &child_of(*node, segment);
    }
  }
  return node->routes;
}

template <class F>
void for_each_route(route_node& node, const F& f) {
  for (auto* const list : {&node.routes, &node.rest})
    for (auto& each : *list) f(*each);
  for (auto& each : node.children) for_each_route(*each, f);
  if (node.parameter) for_each_route(*node.parameter, f);
}

}  // namespace

void router::tree::add(std::string_view method, std::string_view pattern, handler&& answer,
                       const std::vector<middleware>& inner) {
  if (method != "*" && !is_token(method)) refuse(pattern, "the method is not a token");
  if (method.size() > head_parser::longest_method) refuse(pattern, "the method is longer than 32 bytes");
  if (!answer) refuse(pattern, "it has no handler");
  auto added = std::make_unique<route>();
  auto& place = place_of(root, pattern, added->names);
  for (const auto& each : place)
    if (each->method == method)
      throw std::logic_error("route \"" + std::string(pattern) + "\": there is one for " + std::string(method) +
                             " already");
  added->method = method;
  added->pattern = pattern;
  added->answer = std::move(answer);
  added->around = inner;
  place.push_back(std::move(added));
  link_chains();
}

void router::tree::link_chains() {
  chain.clear();
  for (const middleware& each : around) chain.push_back(&each);
  for_each_route(root, [this](route& each) {
    each.chain = chain;
    for (const middleware& inner : each.around) each.chain.push_back(&inner);
  });
}

void router::tree::mount(std::string_view prefix, tree&& other) {
  for_each_route(other.root, [&](route& each) {
    std::vector<middleware> inner = other.around;
    inner.insert(inner.end(), each.around.begin(), each.around.end());
    add(each.method, std::string(prefix) + each.pattern, std::move(each.answer), inner);
  });
}

namespace {

// `begin` is the position of segment `depth` in the path.
bool find_node(const route_node& node, std::size_t depth, std::size_t begin, route_search& search) {
  ++search.visited;
  const std::string_view path = search.path.path();
  const bool ends_here = begin == path.size();
  if (ends_here && !node.routes.empty()) {
    search.found = &node.routes;
    return true;
  }
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
  if (node.rest.empty()) return false;
  const std::string_view rest = path.substr(begin);
  const std::string_view behind = ends_here ? rest : rest.substr(1);
  search.values[search.count++] = {.text = behind.data(), .size = behind.size()};
  search.rest = ends_here ? std::string_view("/") : rest;
  search.found = &node.rest;
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

bool find_routes(const route_node& root, route_search& search) { return find_node(root, 0, 0, search); }

}  // namespace gyre::http
