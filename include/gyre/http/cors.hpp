// gyre/http/cors.hpp: which pages of other origins may use this one from a browser. Fetch standard, "HTTP-CORS protocol".
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/middleware.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gyre::http {

struct cors_options {
  /// As browsers send them: "https://example.org", "http://localhost:3000". {"*"}: any, without credentials.
  std::vector<std::string> origins = {};
  /// That pages may use besides GET, HEAD and POST, which need no permission. {"*"}: any.
  std::vector<std::string> methods = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
  /// Fields of requests that pages may set besides those that need no permission. {"*"}: any.
  std::vector<std::string> fields = {"Content-Type"};
  /// Fields of responses that pages may read besides those that need no permission.
  std::vector<std::string> exposed = {};
  /// Requests may have cookies and passwords with them.
  bool credentials = false;
  /// How long a browser may remember a permission. Nothing: its own 5 seconds.
  std::optional<std::chrono::seconds> max_age = {};
};

/// Tells browsers which pages may use what is behind it. A browser's question about that (a preflight: OPTIONS with Origin
/// and Access-Control-Request-Method) is answered without calling a handler. Requests are never refused: the browser keeps
/// the answer from pages that have no permission, and other clients do not care. Errors may be read too. What caches keep fits
/// every page: "*" is in all responses, a list of origins is a "Vary: Origin".
///
///   routes.use(http::cors({.origins = {"https://example.org"}, .credentials = true}));
///
/// Errors: std::invalid_argument for an origin with a path or without a scheme, for any origin with credentials, and for
/// names that are no tokens.
[[nodiscard]] GYRE_API middleware cors(cors_options options);

}  // namespace gyre::http
