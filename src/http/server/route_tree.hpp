// src/http/server/route_tree.hpp: the routes of a router, as a tree of path segments.
#pragma once

#include <gyre/http/router.hpp>

#include "path_segments.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::http {

/// The handler of one method at one pattern.
struct route {
  std::string method;  // "*": every method without a route of its own
  std::string pattern;
  handler answer;
  std::vector<middleware> around;  // middleware of its groups
  std::vector<std::string> names;  // of the parameters, in the order of the pattern
  std::vector<const middleware*>
      chain;  // all middleware around it, outermost first; rebuilt when routes or middleware are added
};

using route_list = std::vector<std::unique_ptr<route>>;

struct route_node {
  std::string text;                                   // the segment's text, decoded
  bool has_percent = false;                           // in the text
  std::vector<std::unique_ptr<route_node>> children;  // literal segments, by size and text
  std::unique_ptr<route_node> parameter;
  route_list routes;  // for paths that end here
  route_list rest;    // for longer paths: "{rest...}"
};

struct router::tree {
  route_node root;
  std::vector<middleware> around;
  handler not_found;
  std::vector<const middleware*> chain;  // around everything that is not a route
  handler no_route;                      // answers 404

  void add(std::string_view method, std::string_view pattern, handler&& answer, const std::vector<middleware>& inner);
  void mount(std::string_view prefix, tree&& other);
  void link_chains();
};

/// A search for a path, with the values of the parameters found so far.
struct route_search {
  explicit route_search(std::string_view wanted) noexcept : path(wanted) {}  // NOLINT(*-member-init): `values`

  static constexpr std::size_t most = 16;
  // As sent. Not a std::string_view: its constructor would clear 16 of these, mostly in vain.
  struct value {
    const char* text;
    std::size_t size;
  };
  path_segments path;
  std::array<value, most> values;
  std::size_t count = 0;
  std::string_view rest;  // of the path, with its slash
  const route_list* found = nullptr;
  std::size_t visited = 0;  // number of nodes
};

/// Finds the routes at a path in the common case: each segment matches a literal segment of a route exactly as sent.
/// Such routes precede all alternatives. Returns null when there are none.
[[nodiscard]] const route_list* find_spelled_out(const route_node& root, std::string_view path) noexcept;

/// Finds the routes at any path: those of the first alternative that has any. Each node has only one way to it, so a
/// search visits each at most once, whatever the path.
[[nodiscard]] bool find_routes(const route_node& root, route_search& search);

}  // namespace gyre::http
