// tests/http/little_room.hpp: clients that soon hold up their server.
#pragma once

#include "tests/http/socket_server.hpp"

#include <sys/socket.h>

namespace gyre_test {

inline void leave_little_room(tcp_client& client) {
  const int room = 65'536;
  ::setsockopt(client.stream().native_descriptor(), SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
}
inline gyre::task<tcp_client> connect_with_little_room(socket_server& here) {
  auto client = co_await here.connect();
  leave_little_room(client);
  co_return client;
}

/// Waits until `count` has begun to grow and then stays the same.
template <class Count>
gyre::task<> until_it_stops(const Count& count) {
  for (Count before = 0; count == 0 || count != before;) {
    before = count;
    co_await gyre::sleep(100ms);
  }
}

}  // namespace gyre_test
