// gyre/http/handler_timeout.hpp: a limit on the time that handlers take.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/middleware.hpp>

#include <chrono>
#include <string>

namespace gyre::http {

struct handler_timeout_options {
  std::chrono::nanoseconds limit = std::chrono::seconds(30);
  int status = 503;
  std::string message = "this took too long";
};

/// Cancels the handlers behind it when the time is over, waits until they have stopped, and answers 503. What they answer in
/// spite of that wins. Their time is that until they return: a body that is made piece by piece comes later, and is limited
/// by server_timeouts alone.
///
///   routes.at("/reports").use(http::handler_timeout({.limit = 5s}));
///
/// Errors: std::invalid_argument for a status that is none.
[[nodiscard]] GYRE_API middleware handler_timeout(handler_timeout_options options = {});

}  // namespace gyre::http
