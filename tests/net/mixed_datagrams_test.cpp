// tests/net/mixed_datagrams_test.cpp: every way to receive datagrams, mixed at random, with cancels and time-outs. Each
// datagram arrives once and in order. CONTRIBUTING.md says how to run it for longer.
#include <gyre/net/datagram_operations.hpp>

#include <gyre/net/udp_socket.hpp>
#include <gyre/net/unix_datagram.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/datagram_flow.hpp"

#include <unistd.h>

using namespace gyre_test;

namespace {

template <class Socket>
gyre::task<> send_datagrams(datagram_flow<Socket>& all) {
  // As many as receive() requests in advance, or more. The kernel drops what does not fit.
  const std::size_t max_under_way = all.choose.one_in(3) ? 100 : 64;
  while (all.sent < all.total) {
    for (std::size_t n = all.choose.between(1, 100); n > 0 && all.sent < all.total; --n) {
      while (all.under_way() >= max_under_way) co_await gyre::sleep(std::chrono::microseconds(50));
      co_await send_next(all);
    }
    co_await pause(all.choose);
  }
}

/// Continues for a while after everything has arrived, because a receive that then waits must still react to its
/// cancel.
template <class Socket>
gyre::task<> receive_datagrams(datagram_flow<Socket>& all) {
  for (int after = 0; after < 5;) {
    co_await receive_once(all);
    if (all.next == all.total) ++after;
    co_await rest_from_receiving(all);
  }
  all.kept.clear();
}

template <class Socket>
gyre::task<> transfer_datagrams(unsigned seed, Socket& sender, Socket& receiver, bool to_peer) {
  datagram_flow<Socket> there(seed);
  there.to = &sender;
  there.from = &receiver;
  there.to_peer = to_peer;
  if (!to_peer) there.destination = receiver.local_address();
  auto body = [&](gyre::task_group& group) -> gyre::task<> {
    group.spawn(send_datagrams(there));
    group.spawn(receive_datagrams(there));
    co_return;
  };
  co_await gyre::task_group::scope(body);
}

template <class Transfer>
void for_each_loop(Transfer transfer_all) {
  for_each_seed(12, [&](unsigned seed) { gyre::run(transfer_all(seed), datagram_loop(seed)); });
}

}  // namespace

TEST(mixed_datagrams, over_udp_each_comes_once_and_in_its_place) {
  for_each_loop([](unsigned seed) -> gyre::task<> {
    auto sender = gyre::udp_socket::bind("127.0.0.1:0");
    auto receiver = gyre::udp_socket::bind("127.0.0.1:0");
    co_await transfer_datagrams(seed, sender, receiver, false);
  });
}

TEST(mixed_datagrams, over_connected_udp_each_comes_once_and_in_its_place) {
  for_each_loop([](unsigned seed) -> gyre::task<> {
    auto receiver = gyre::udp_socket::bind("127.0.0.1:0");
    auto sender = gyre::udp_socket::connected(receiver.local_address());
    receiver.connect(sender.local_address());
    co_await transfer_datagrams(seed, sender, receiver, true);
  });
}

TEST(mixed_datagrams, between_unix_sockets_each_comes_once_and_in_its_place) {
  for_each_loop([](unsigned seed) -> gyre::task<> {
    auto pair = gyre::unix_datagram::pair();
    co_await transfer_datagrams(seed, pair.first, pair.second, true);
  });
}

TEST(mixed_datagrams, to_the_name_of_a_unix_socket_each_comes_once_and_in_its_place) {
  for_each_loop([](unsigned seed) -> gyre::task<> {
    const std::string name = "@gyre_mixed_" + std::to_string(::getpid()) + "_";
    auto sender = gyre::unix_datagram::bind(gyre::unix_address(name + "sender"));
    auto receiver = gyre::unix_datagram::bind(gyre::unix_address(name + "receiver"));
    co_await transfer_datagrams(seed, sender, receiver, false);
  });
}
