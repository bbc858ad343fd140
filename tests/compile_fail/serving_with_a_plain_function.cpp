// tests/compile_fail/serving_with_a_plain_function.cpp: a handler of connections has to return a task.
// expect: serve takes a function that is called with the accepted stream, by value, and returns a task
#include <gyre/net/tcp_listener.hpp>

gyre::task<> caller(gyre::tcp_listener& listener) {
  co_await listener.serve([](gyre::tcp_stream) {});
}
