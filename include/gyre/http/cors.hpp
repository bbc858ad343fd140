// gyre/http/cors.hpp: lets pages of other origins use this one in a browser. Fetch standard, "HTTP-CORS protocol".
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/middleware.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gyre::http {

struct cors_options {
  /// Origins as browsers send them: "https://example.org", "http://localhost:3000". {"*"} means any, without
  /// credentials.
  std::vector<std::string> origins = {};
  /// Methods that pages may use besides GET, HEAD and POST, which need no permission. {"*"} means any.
  std::vector<std::string> methods = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
  /// Request fields that pages may set besides those that need no permission. {"*"} means any.
  std::vector<std::string> fields = {"Content-Type"};
  /// Response fields that pages may read besides those that need no permission.
  std::vector<std::string> exposed = {};
  /// Allows requests with cookies and passwords.
  bool credentials = false;
  /// How long a browser may remember a permission. Nothing means the browser's default of 5 seconds.
  std::optional<std::chrono::seconds> max_age = {};
};

/// Tells browsers which pages may use the handlers inside it. A preflight (OPTIONS with Origin and
/// Access-Control-Request-Method) is answered without calling a handler. Requests are never refused: the browser hides
/// the answer from pages without permission, and other clients do not care. Errors may be read too. Cached responses
/// fit every page: with {"*"} they all allow "*", with a list of origins they have "Vary: Origin".
///
///   routes.use(http::cors({.origins = {"https://example.org"}, .credentials = true}));
///
/// Errors: std::invalid_argument for an origin with a path or without a scheme, for any origin with credentials, and
/// for names that are no tokens.
[[nodiscard]] GYRE_API middleware cors(cors_options options);

}  // namespace gyre::http
