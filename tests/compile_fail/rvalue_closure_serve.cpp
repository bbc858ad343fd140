// tests/compile_fail/rvalue_closure_serve.cpp: g++ 12 destroys the captures of a temporary closure twice.
// expect: name it first
// compiler: g++
#include <gyre/net/tcp_listener.hpp>

#include <string>

gyre::task<> caller(gyre::tcp_listener& listener, std::string text) {
  co_await listener.serve([text](gyre::tcp_stream) -> gyre::task<> { co_return; });
}
