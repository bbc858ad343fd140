// tests/compile_fail/net.cpp: handlers of connections, and bytes that are lent.
#include <gyre/gyre.hpp>

// case: keeping_the_bytes_of_a_temporary_lease: the buffer is given back before the bytes are used.
// expect: deleted
gyre::task<> caller(gyre::tcp_stream& peer) {
  const std::span<const std::byte> bytes = co_await peer.receive();
  co_await peer.write_all(bytes);
}

// case: serving_with_a_plain_function: a handler of connections has to return a task.
// expect: serve takes a function that is called with the accepted stream, by value, and returns a task
gyre::task<> caller(gyre::tcp_listener& listener) {
  co_await listener.serve([](gyre::tcp_stream) {});
}

// case: start_server_with_a_stream_handler: start_server passes a reader and a writer, not a stream.
// expect: start_server takes a function that is called with a stream_reader& and a stream_writer&, and returns a task
gyre::task<> talk(gyre::tcp_stream peer);
gyre::task<> caller() { co_await gyre::start_server(talk, "127.0.0.1:0"); }
