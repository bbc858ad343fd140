// tests/http/gated_app.hpp: a handler that waits until the test lets it answer.
#pragma once

#include "tests/http/http_client.hpp"

#include <string>

namespace gyre_test {

/// Answers "/" at once, and any other path when the test allows it.
struct gated_app {
  gyre::event began;
  gyre::event go_on;
  bool was_cancelled = false;

  http::handler routes() {
    return [this](http::request& r) -> gyre::task<http::response> {
      if (r.path() == "/") co_return http::response::text("at once");
      began.set();
      try {
        co_await go_on.wait();
      } catch (const gyre::cancelled&) {
        was_cancelled = true;
        throw;
      }
      co_return http::response::text("at last");
    };
  }
};

inline const std::string slow_request = get_request("/slow");

}  // namespace gyre_test
