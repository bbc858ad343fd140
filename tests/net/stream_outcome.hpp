// tests/net/stream_outcome.hpp: how a stream ended for its reader.
#pragma once

#include "tests/net/connected_pair.hpp"
#include "tests/net/echo.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace gyre_test {

/// How a stream ended for its reader, after the bytes: "end", or the error.
struct outcome {
  std::string bytes;
  std::string end;
};

template <class Stream>
gyre::task<outcome> read_all_of(Stream& from) {
  outcome result;
  std::array<char, 4096> buffer;
  try {
    while (const std::size_t n = co_await from.read_some(std::span(buffer))) result.bytes.append(buffer.data(), n);
    result.end = "end";
  } catch (const gyre::io_error& error) {
    result.end = error.code().message();
  }
  co_return result;
}

/// A handler that waits for what never comes.
inline gyre::task<> read_for_ever(gyre::tcp_stream peer) {
  std::array<char, 16> buffer;
  while (co_await peer.read_some(std::span(buffer)) > 0) {
  }
}

/// Serves one client until the deadline of the drain. Returns how its stream ended.
template <class Handler>
gyre::task<outcome> cut_off_in(Handler handler) {
  test_server server(handler, {.drain = 3s});
  auto client = co_await server.connect();
  co_await client.write_all("part");
  co_await settle();
  gyre::request_stop();
  const outcome seen = co_await read_all_of(client);
  co_await server.serving;
  co_return seen;
}

}  // namespace gyre_test
