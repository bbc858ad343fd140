// gyre/http/router.hpp: finds the handler of a request by method and path.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/middleware.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace gyre::http {

struct covered_prefix;
struct surrounding;

/// Routes, as a tree of path segments.
///
///   http::router routes;
///   routes.get("/users/{id}", show_user);       // request.path_parameter<int>("id")
///   routes.get("/files/{path...}", send_file);  // the rest of the path, which may be empty
///   auto api = routes.at("/api/v1");
///   api.use(authenticated);                     // around the routes of the group only
///   api.post("/users", add_user);
///
/// A literal segment takes precedence over "{name}", and "{name}" over "{rest...}"; the order of the calls does not
/// matter. A route matches by path and method: beside `post("/login", …)`, `get("/{path...}", …)` answers GET /login.
/// Segments are compared decoded. "//" is an empty segment. "." and ".." are ordinary segments, and a parameter may
/// hold an encoded slash: a handler that makes a file path out of it calls file_response_below.
/// The handler of GET also answers HEAD. OPTIONS is answered with the methods of all routes that match the path,
/// another method with 405 and that list, another path with 404.
/// Using a router that was moved from, for example into a server, stops the program with a message.
/// Thread: add routes before the first request. Then several loops may use it at the same time, if the handlers allow
/// that.
class GYRE_API router : public prompt_handler<router> {
 public:
  router();
  /// A part of the router whose routes share a prefix and middleware. Lifetime: as the router, also where that is moved
  /// to. Using it after the router was mounted stops the program with a message.
  class group;

  /// Errors: std::invalid_argument for a method that is not a token, and for a pattern that cannot be meant, with what
  /// to write instead: without "/" at its beginning, with an empty segment, a dot segment or an escape ("%20"), with a
  /// parameter that has no name, the name of another one or the notation of another router (":id", "{id:int}", "*"), or
  /// with a rest that is not last; std::logic_error for a route that exists already.
  router& add(std::string_view method, std::string_view pattern, handler h);
  router& get(std::string_view pattern, handler h) { return add("GET", pattern, std::move(h)); }
  router& post(std::string_view pattern, handler h) { return add("POST", pattern, std::move(h)); }
  router& put(std::string_view pattern, handler h) { return add("PUT", pattern, std::move(h)); }
  router& patch(std::string_view pattern, handler h) { return add("PATCH", pattern, std::move(h)); }
  router& del(std::string_view pattern, handler h) { return add("DELETE", pattern, std::move(h)); }
  /// Handles every method that has no route of its own at this pattern.
  router& any(std::string_view pattern, handler h) { return add("*", pattern, std::move(h)); }

  /// Applies to all routes, including those added earlier, and to 404 and 405. The first middleware used is outermost.
  router& use(middleware around);
  /// Makes a group with this prefix: a pattern without a slash at its end, such as "/api/{version}", or nothing.
  /// Errors: same as add, for the prefix.
  [[nodiscard]] group at(std::string_view prefix);
  /// Moves the routes of another router below a prefix. Each of them keeps the middleware of that router, which also
  /// applies to 404 and 405 below the prefix. Its not_found is not mounted; this router's applies. Errors: same as add,
  /// and same as at for the prefix.
  router& mount(std::string_view prefix, router other);
  /// Answers paths without a route, instead of 404. CONNECT has no path: without middleware that opens a tunnel it is
  /// answered with 501.
  router& not_found(handler h);

  /// Starts to answer a request. To await the answer, call the router: `co_await routes(request)`.
  /// Lifetime: this and the request outlive the result. Errors: whatever the handler throws before it waits.
  [[nodiscard]] started_response start(request& r);

  struct tree;

 private:
  [[nodiscard]] tree& routes() const noexcept;

  static void destroy(tree* routes) noexcept;
  owned<tree*, &destroy> tree_;
};

class router::group {
 public:
  group& add(std::string_view method, std::string_view pattern, handler h);
  group& get(std::string_view pattern, handler h) { return add("GET", pattern, std::move(h)); }
  group& post(std::string_view pattern, handler h) { return add("POST", pattern, std::move(h)); }
  group& put(std::string_view pattern, handler h) { return add("PUT", pattern, std::move(h)); }
  group& patch(std::string_view pattern, handler h) { return add("PATCH", pattern, std::move(h)); }
  group& del(std::string_view pattern, handler h) { return add("DELETE", pattern, std::move(h)); }
  group& any(std::string_view pattern, handler h) { return add("*", pattern, std::move(h)); }
  /// Applies to the routes added to this group from now on, inside the middleware of the router. Also applies to 404,
  /// 405 and the answers to OPTIONS below the prefix, unless a group with a longer prefix is there. So pages may read
  /// these errors with cors, and a client without credentials does not learn which routes there are. The middleware of
  /// all groups with the same prefix applies to them. A group with an empty prefix has none to cover: its middleware
  /// applies to its routes only.
  group& use(middleware around);
  /// A nested group that starts with the middleware of this one. Errors: same as those of the router's at.
  [[nodiscard]] group at(std::string_view prefix) const;

 private:
  friend class router;
  group(router::tree& routes, std::string prefix, const surrounding* inner, covered_prefix* covered)
      : routes_(&routes), prefix_(std::move(prefix)), inner_(inner), covered_(covered) {}
  /// Stops the program when the router has been mounted.
  [[nodiscard]] router::tree& routes() const noexcept;
  router::tree* routes_;
  std::string prefix_;
  const surrounding* inner_;  // the middleware so far; null: only that of the router
  covered_prefix* covered_;   // its 404 and 405; null without a prefix of its own
};

}  // namespace gyre::http
