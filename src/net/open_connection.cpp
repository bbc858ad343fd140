// src/net/open_connection.cpp: creates a reader and a writer for a new connection.
#include <gyre/net/open_connection.hpp>
#include <gyre/net/resolver.hpp>
#include <gyre/net/unix_stream.hpp>

namespace gyre {

task<stream_connection> open_connection(std::string host_and_port, happy_eyeballs_options options) {
  auto addresses = co_await resolve(host_and_port);
  co_return make_connection(co_await connect_to_first(std::move(addresses), options));
}

task<stream_connection> open_unix_connection(std::string path_or_name) {
  const unix_address where(path_or_name);
  co_return make_connection(co_await unix_stream::connect(where));
}

}  // namespace gyre
