// tests/compile_fail/rvalue_closure_start_server.cpp: g++ 12 destroys the captures of a temporary closure twice.
// expect: name it first
// compiler: g++
#include <gyre/net/start_server.hpp>

#include <string>

gyre::task<> caller(std::string text) {
  co_await gyre::start_server([text](gyre::stream_reader&, gyre::stream_writer&) -> gyre::task<> { co_return; }, ":0");
}
