// src/http/router/route_tree.hpp: the routes of a router, as a tree of path segments.
#pragma once

#include <gyre/http/router.hpp>

#include "path_segments.hpp"
#include "route_pattern.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gyre::http {

using middleware_chain = std::vector<const middleware*>;  // outermost first

/// One middleware of a group, or of a router that was mounted. The routes that were added to the group since share it.
struct surrounding {
  surrounding(const surrounding* around, middleware with) : outer(around), own(std::move(with)) {}
  const surrounding* outer;  // null: only the router's middleware is around it
  middleware own;
  middleware_chain chain;  // all middleware, from the router's to this one
};

/// The middleware of the groups with one prefix, around 404 and 405 below it.
struct covered_prefix {
  /// A parameter in the prefix. Groups may give it different names.
  struct parameter {
    std::size_t segment;
    std::string name;
    friend bool operator==(const parameter&, const parameter&) noexcept = default;
  };
  std::string prefix;
  std::vector<parameter> parameters;
  std::vector<const surrounding*> inside;  // in order of their use
  middleware_chain chain;                  // that of the router, and these
};

/// The handler of one method at one pattern.
struct route {
  std::string method;  // "*": every method without a route of its own
  std::string pattern;
  handler answer;
  const surrounding* around;       // null: only the router's middleware
  const middleware_chain* chain;   // all middleware around it
  std::vector<std::string> names;  // of the parameters, in the order of the pattern
};

using route_list = std::vector<std::unique_ptr<route>>;

struct route_node {
  std::string text;                                           // the segment's text, decoded
  bool has_percent = false;                                   // in the text
  std::vector<std::unique_ptr<route_node>> children;          // literal segments
  std::unordered_map<std::string_view, route_node*> by_text;  // all children, if they are many
  std::unique_ptr<route_node> parameter;
  route_list routes;                  // for paths that end here
  route_list rest;                    // for longer paths: "{rest...}"
  covered_prefix* covered = nullptr;  // for paths that end here, and longer ones
};

/// An object that others point to is allocated by itself, so that the cost of adding a route, a group or its
/// middleware does not grow with their number.
struct [[gnu::visibility("hidden")]] router::tree {
  route_node root;
  std::vector<middleware> around;
  handler not_found;
  middleware_chain chain;                                  // around everything outside of groups
  handler no_route;                                        // answers 404
  std::vector<std::unique_ptr<surrounding>> surroundings;  // outer ones first
  std::vector<std::unique_ptr<covered_prefix>> covered;
  std::vector<owned<tree*, &destroy>> mounted;  // empty; their groups may outlive them
  bool is_mounted = false;

  void add(std::string_view method, std::string_view pattern, handler&& answer, const surrounding* inner);
  void mount(std::string_view prefix, tree&& other);
  void use(middleware&& more);
  /// Returns `more` inside `outer`, which may be null.
  [[nodiscard]] const surrounding* surround(const surrounding* outer, middleware&& more);
  /// Returns the middleware that covers a prefix. From now on, that up to `inner` belongs to it.
  covered_prefix& cover(std::string_view prefix, const surrounding* inner);
  /// Adds middleware, and what is around it, unless it is there already. Null is no middleware.
  static void cover_also(covered_prefix& at, const surrounding* inner);
};

/// A search for the route of a method at a path, with the values of the parameters found so far.
struct route_search {
  /// `also` is a method whose route will do, too: the one that a browser's preflight asks about.
  route_search(std::string_view wanted, std::string_view by, std::string_view also = {}) noexcept
      : path(wanted), method(by), asked(also) {}  // NOLINT(*-member-init): `values`

  // As sent. Not a std::string_view: its constructor would clear 16 of these, mostly in vain.
  struct value {
    const char* text;
    std::size_t size;
  };
  path_segments path;
  std::string_view method;
  std::string_view asked;
  std::array<value, max_parameters> values;
  std::size_t count = 0;
  std::string_view rest;  // of the path, with its slash
  route* found = nullptr;
  bool handles_method = false;                       // false: `asked` found the route
  bool path_exists = false;                          // there are routes at the path, of whatever method
  std::vector<std::string_view>* methods = nullptr;  // if not null, those at the path are collected, and none is found
  const covered_prefix* covered = nullptr;           // the longest prefix, once nothing was found
  std::size_t covered_depth = 0;
  std::size_t visited = 0;  // number of nodes
};

/// Takes the next segment and the slash before it off `rest`. Returns the segment without the slash.
std::string_view take_segment(std::string_view& rest) noexcept;

/// Returns the route of a method: its own, that of GET for HEAD, or that of every method. Null when there is none.
[[nodiscard]] route* route_for(const route_list& routes, std::string_view method) noexcept;
/// Returns the route that was added for exactly this method, or null.
[[nodiscard]] route* route_of(const route_list& routes, std::string_view method) noexcept;

/// Finds the routes at a path in the common case: each segment matches a literal segment of a route exactly as sent.
/// Such routes precede all alternatives. Returns null when there are none.
[[nodiscard]] const route_list* find_spelled_out(const route_node& root, std::string_view path) noexcept;

/// Finds the route of a method at any path: that of the first alternative that has one. Each node has only one way to
/// it, so a search visits each at most once, whatever the path.
[[nodiscard]] bool find_route(const route_node& root, route_search& search);

}  // namespace gyre::http
