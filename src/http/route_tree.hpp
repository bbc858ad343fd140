// src/http/route_tree.hpp: the routes of a router, as a tree of path segments.
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

/// What answers one method at one pattern.
struct route {
  std::string method;  // "*": any that is not there
  std::string pattern;
  handler answer;
  std::vector<middleware> around;  // of its groups
  std::vector<std::string> names;  // of the parameters, in the order of the pattern
  std::vector<const middleware*>
      chain;  // all that is around it, outermost first; made when routes or middleware are added
};

struct route_node {
  std::string text;                                   // of the segment, decoded
  std::vector<std::unique_ptr<route_node>> children;  // spelled out, by size and text
  std::unique_ptr<route_node> parameter;
  std::vector<std::unique_ptr<route>> routes;  // of paths that end here
  std::vector<std::unique_ptr<route>> rest;    // of those that go on somehow: "{rest...}"
};

struct router::tree {
  route_node root;
  std::vector<middleware> around;
  handler not_found;
  std::vector<const middleware*> chain;  // around everything that is no route
  handler no_route;                      // answers 404

  void add(std::string_view method, std::string_view pattern, handler&& answer, const std::vector<middleware>& inner);
  void mount(std::string_view prefix, tree&& other);
  void link_chains();
};

/// A path that is being looked for, and the values of the parameters on the way to it.
struct route_search {
  explicit route_search(std::string_view wanted) noexcept : path(wanted) {}  // NOLINT(*-member-init): `values`

  static constexpr std::size_t most = 16;
  // As sent. Not a view, which would be made empty, most times in vain.
  struct value {
    const char* text;
    std::size_t size;
  };
  path_segments path;
  std::array<value, most> values;
  std::size_t count = 0;
  std::string_view rest;  // of the path, with its slash
  const std::vector<std::unique_ptr<route>>* found = nullptr;
  std::size_t visited = 0;  // nodes
};

/// The routes at a path, those of the first alternative that has any. A node can be reached by one way only, so a search
/// visits each at most once, whatever the path.
[[nodiscard]] bool find_routes(const route_node& root, route_search& search);

}  // namespace gyre::http
