// tests/compile_fail/switching_protocols_with_a_plain_function.cpp: the function that speaks another protocol is a
// coroutine.
// expect: switch_protocols takes a function that is called with an any_stream and returns a task<>
#include <gyre/http/response.hpp>

gyre::http::response answer() {
  return gyre::http::response::switch_protocols("echo", [](gyre::any_stream) {});
}
