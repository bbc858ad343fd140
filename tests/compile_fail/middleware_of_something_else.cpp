// tests/compile_fail/middleware_of_something_else.cpp: middleware needs the rest of the chain.
// expect: middleware is called with a http::request& and a next_handler
#include <gyre/http/router.hpp>

void routes(gyre::http::router& all) {
  all.use(
      [](gyre::http::request&) -> gyre::task<gyre::http::response> { co_return gyre::http::response::text("hello"); });
}
