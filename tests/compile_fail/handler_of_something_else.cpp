// tests/compile_fail/handler_of_something_else.cpp: a route needs a function that answers a request.
// expect: a handler is called with a http::request&
#include <gyre/http/router.hpp>

void routes(gyre::http::router& all) {
  all.get("/", [](int) { return 1; });
}
