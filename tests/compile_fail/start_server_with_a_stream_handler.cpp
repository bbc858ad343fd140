// tests/compile_fail/start_server_with_a_stream_handler.cpp: start_server passes a reader and a writer, not a stream.
// expect: start_server takes a function that is called with a stream_reader& and a stream_writer&, and returns a task
#include <gyre/net/start_server.hpp>

gyre::task<> talk(gyre::tcp_stream peer);
gyre::task<> caller() { co_await gyre::start_server(talk, "127.0.0.1:0"); }
