// tests/compile_fail/streaming_with_a_plain_function.cpp: the function that writes a body is a coroutine.
// expect: response::stream takes a function that is called with a body_writer& and returns a task<>, or
#include <gyre/http/response.hpp>

gyre::http::response answer() {
  return gyre::http::response::stream([](gyre::http::body_writer&) {});
}
