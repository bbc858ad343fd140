// gyre/net/open_connection.hpp: opens a connection with a reader and a writer.
#pragma once

#include <gyre/net/happy_eyeballs.hpp>
#include <gyre/stream/stream_reader.hpp>
#include <gyre/stream/stream_writer.hpp>

#include <string>
#include <utility>

namespace gyre {

/// Both halves of a connection. The socket is closed when both are destroyed.
struct stream_connection {
  stream_reader reader;
  stream_writer writer;
};

/// A reader and a writer over any byte stream.
template <byte_stream S>
[[nodiscard]] stream_connection make_connection(S stream) {
  const shared_stream shared{any_stream(std::move(stream))};
  return {stream_reader(shared), stream_writer(shared)};
}

/// Resolves "host:port" and connects to the address that answers first (happy eyeballs). asyncio: open_connection.
///
/// Cancel: the attempt is abandoned and the socket closed. Errors: io_error of the resolver, or of the first address
/// that failed.
[[nodiscard]] GYRE_API task<stream_connection> open_connection(std::string host_and_port,
                                                               happy_eyeballs_options options = {});

/// The same for the socket that listens at a path or an abstract name ("@name"). asyncio: open_unix_connection.
///
/// Cancel: the attempt is abandoned and the socket closed. Errors: io_error, same as unix_address and
/// unix_stream::connect.
[[nodiscard]] GYRE_API task<stream_connection> open_unix_connection(std::string path_or_name);

}  // namespace gyre
