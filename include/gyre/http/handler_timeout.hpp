// gyre/http/handler_timeout.hpp: limits the time that handlers take.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/middleware.hpp>

#include <chrono>
#include <string>

namespace gyre::http {

struct handler_timeout_options {
  std::chrono::nanoseconds limit = std::chrono::seconds(30);
  int status = 503;
  std::string message = "the server took too long to respond";
};

/// Cancels the handlers inside it after the limit, waits until they have stopped, and answers 503. An answer that they
/// return nevertheless takes precedence. Their time ends when they return: a body that is made piece by piece comes
/// later, and only server_timeouts limits it.
///
///   routes.at("/reports").use(http::handler_timeout({.limit = 5s}));
///
/// Errors: std::invalid_argument for an invalid status.
[[nodiscard]] GYRE_API middleware handler_timeout(handler_timeout_options options = {});

}  // namespace gyre::http
