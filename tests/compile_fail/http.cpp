// tests/compile_fail/http.cpp: handlers, middleware and values of an HTTP server.
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

// case: answering_with_an_unknown_type: a value becomes JSON by a json_format.
// expect: response::json takes text, or a value of a type for which gyre::http::json_format is specialized with write()
struct point {};
gyre::http::response answer() { return gyre::http::response::json(point()); }

// case: handler_of_something_else: a route needs a function that answers a request.
// expect: a handler is called with a http::request&
void routes(gyre::http::router& all) {
  all.get("/", [](int) { return 1; });
}

// case: middleware_of_something_else: middleware needs the rest of the chain.
// expect: middleware is called with a http::request& and a next_handler
void routes(gyre::http::router& all) {
  all.use(
      [](gyre::http::request&) -> gyre::task<gyre::http::response> { co_return gyre::http::response::text("hello"); });
}

// case: reading_json_of_an_unknown_type: JSON becomes a value by a json_format.
// expect: request::json gives values of types for which gyre::http::json_format is specialized with read()
struct point {};
gyre::task<> handle(gyre::http::request& request) { (void)co_await request.json<point>(); }

// case: streaming_with_a_plain_function: the function that writes a body is a coroutine.
// expect: response::stream takes a function that is called with a body_writer& and returns a task<>, or
gyre::http::response answer() {
  return gyre::http::response::stream([](gyre::http::body_writer&) {});
}

// case: switching_protocols_with_a_plain_function: the function that speaks another protocol is a coroutine.
// expect: switch_protocols takes a function that is called with an any_stream and returns a task<>
gyre::http::response answer() {
  return gyre::http::response::switch_protocols("echo", [](gyre::any_stream) {});
}
