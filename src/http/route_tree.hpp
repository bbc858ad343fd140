// src/http/route_tree.hpp: the routes of a router, as a tree of path segments.
#pragma once

#include <gyre/http/router.hpp>

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
  std::vector<std::unique_ptr<route_node>> children;  // spelled out
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

/// Values of the parameters on the way to the path that is being looked for.
struct route_search {
  static constexpr std::size_t most = 16;
  // As sent. Not a view, which would be made empty, most times in vain.
  struct value {
    const char* text;
    std::size_t size;
  };
  std::array<value, most> values;
  std::size_t count = 0;
  std::string_view rest;  // of the path, with its slash
  const std::vector<std::unique_ptr<route>>* found = nullptr;
};

/// The routes at a path, those of the first alternative that has any.
[[nodiscard]] bool find_routes(const route_node& root, std::string_view path, route_search& search);

}  // namespace gyre::http
