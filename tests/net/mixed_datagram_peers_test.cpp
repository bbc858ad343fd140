// tests/net/mixed_datagram_peers_test.cpp: datagrams between peers that close their sockets and come back at random,
// while the other side sends and receives. Only datagrams to a peer that has left may be lost. No datagram arrives
// twice, late or altered; a failed send has sent nothing; and an error is reported only where there is reason for one.
// CONTRIBUTING.md says how to run it for longer.
#include <gyre/net/datagram_operations.hpp>

#include <gyre/net/udp_socket.hpp>
#include <gyre/net/unix_datagram.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/datagram_flow.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

using namespace gyre_test;

namespace {

/// One of two peers: its present socket, what it sends and what it receives.
template <class Socket>
struct peer {
  using address = datagram_flow<Socket>::address;

  peer(unsigned seed, datagram_flow<Socket>* sends, datagram_flow<Socket>* receives)
      : choose(seed), lives(choose.between(2, 6)), out(sends), in(receives) {}
  peer(const peer&) = delete;

  [[nodiscard]] bool done() const {
    return (out == nullptr || out->sent == out->total) && (in == nullptr || in->next == in->total);
  }
  [[nodiscard]] bool stays() const { return life >= lives; }

  choices choose;
  std::size_t lives;
  datagram_flow<Socket>* out;  // null if it sends nothing
  datagram_flow<Socket>* in;
  peer* other = nullptr;
  std::optional<Socket> socket;  // null while it is away
  std::size_t life = 0;
  std::size_t refusals = 0;               // errors that report the other's absence
  std::optional<gyre::udp_socket> place;  // keeps the port of a UDP socket while it is away
  address local;
  bool connects = false;         // a Unix socket without a name and with one peer
  std::size_t connected_to = 0;  // the number of that life of the other peer
};

// ---- UDP: a socket without a peer gets no error for refused datagrams

void open(peer<gyre::udp_socket>& self) {
  gyre::udp_options options;
  options.reuse_address = true;
  self.socket = gyre::udp_socket::bind(self.local, options);
  if (self.choose.one_in(4)) {
    self.out->to_peer = false;
    self.out->destination = self.other->local;
  } else {
    self.out->to_peer = true;
    self.socket->connect(self.other->local);
  }
}

bool has_reason(const peer<gyre::udp_socket>& self, std::error_code error, std::size_t) {
  return error == std::errc::connection_refused && self.out->to_peer;
}

bool ends_connection(const peer<gyre::udp_socket>&) { return false; }

// ---- Unix: a send while the other is away is refused at once; a send may be waiting when the other leaves

void open(peer<gyre::unix_datagram>& self) {
  if (!self.connects) {
    self.socket = gyre::unix_datagram::bind(self.local);
    if (self.out == nullptr) return;
    self.out->to_peer = false;
    self.out->destination = self.other->local;
    return;
  }
  if (!self.other->socket) return;
  self.socket = gyre::unix_datagram::connected(self.other->local);
  self.connected_to = self.other->life;
  self.out->to_peer = true;
}

bool has_reason(const peer<gyre::unix_datagram>& self, std::error_code error, std::size_t others_life) {
  if (error != std::errc::connection_refused && error != std::errc::no_such_file_or_directory) return false;
  if (self.connects) others_life = self.connected_to;
  return others_life == 0 || !self.other->socket || self.other->life != others_life;
}

bool ends_connection(const peer<gyre::unix_datagram>& self) { return self.connects; }

// ---- common to both

/// Sends until an error ends its connection. The last datagrams wait until both peers stay for good: these must arrive.
template <class Socket>
gyre::task<> send_as_peer(peer<Socket>& self) {
  datagram_flow<Socket>& all = *self.out;
  const std::size_t max_under_way = all.choose.one_in(3) ? 100 : 64;
  while (all.sent < all.total) {
    const bool may_lose = !self.stays() || !self.other->stays();
    if (all.under_way() >= max_under_way || (may_lose && all.sent + 30 >= all.total)) {
      co_await gyre::sleep(50us);
      continue;
    }
    const std::size_t others_life = self.other->socket ? self.other->life : 0;
    try {
      auto sending = send_next(all);
      if (all.choose.one_in(4))
        co_await gyre::timeout(all.moment(), std::move(sending));
      else
        co_await std::move(sending);
      if (all.choose.one_in(10)) co_await pause(all.choose);
    } catch (const gyre::timed_out&) {  // it sends the same datagram again
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::operation_canceled) continue;
      if (!has_reason(self, error.code(), others_life)) throw;
      ++self.refusals;
      if (ends_connection(self)) co_return;
    }
    if (!self.other->socket) co_await gyre::sleep(all.moment());
  }
}

template <class Socket>
gyre::task<> receive_as_peer(peer<Socket>& self) {
  datagram_flow<Socket>& all = *self.in;
  while (all.next < all.total) {
    try {
      co_await receive_once(all);
    } catch (const std::system_error& error) {
      if (!std::same_as<Socket, gyre::udp_socket> || !has_reason(self, error.code(), 0)) throw;
      ++self.refusals;
    }
    co_await rest_from_receiving(all);
  }
}

std::optional<ino_t> inode_of(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  return status.st_ino;
}

/// Closes the socket and waits until the kernel has released it. Pending receives keep it open.
template <class Socket>
gyre::task<> leave(peer<Socket>& self) {
  const int descriptor = self.socket->native_descriptor();
  const std::optional<ino_t> inode = inode_of(descriptor);
  self.socket.reset();
  while (inode_of(descriptor) == inode) co_await gyre::sleep(50us);
}

template <class Socket>
gyre::task<> one_life(peer<Socket>& self) {
  ++self.life;
  if (self.out != nullptr) self.out->to = &*self.socket;
  if (self.in != nullptr) self.in->from = &*self.socket;
  if (self.in != nullptr) self.in->lose_what_is_under_way();
  auto body = [&self](gyre::task_group& group) -> gyre::task<> {
    if (self.out != nullptr) group.spawn(send_as_peer(self));
    if (self.in != nullptr) group.spawn(receive_as_peer(self));
    if (self.stays()) co_return;
    co_await gyre::sleep(std::chrono::microseconds(self.choose.size_up_to(3'000)));
    group.cancel();
  };
  co_await gyre::task_group::scope(std::move(body));
}

template <class Socket>
gyre::task<> live(peer<Socket>& self) {
  while (!self.done()) {
    open(self);
    if (self.socket) {
      co_await one_life(self);
      co_await leave(self);
    }
    if (!self.done()) co_await gyre::sleep(std::chrono::microseconds(self.choose.size_up_to(1'000)));
  }
  if (self.in != nullptr) self.in->kept.clear();
}

template <class Socket>
gyre::task<> live_together(peer<Socket>& first, peer<Socket>& second) {
  first.other = &second;
  second.other = &first;
  auto body = [&](gyre::task_group& group) -> gyre::task<> {
    group.spawn(live(first));
    group.spawn(live(second));
    co_return;
  };
  co_await gyre::task_group::scope(std::move(body));
}

/// Reserves a port for the sockets of a peer. The reserving socket is connected elsewhere, so no datagram reaches it.
/// It shares its address only after it has got a port: otherwise the kernel could give it the port of another process.
void take_place(peer<gyre::udp_socket>& self) {
  self.place = gyre::udp_socket::bind("127.0.0.1:0");
  const int on = 1;
  EXPECT_EQ(::setsockopt(self.place->native_descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
  self.place->connect(gyre::address("127.0.0.1:9"));
  self.local = gyre::address::loopback_v4(self.place->local_address().port());
}

gyre::unix_address name_of(const char* word, bool is_file) {
  return gyre::unix_address((is_file ? "/tmp/gyre_mixed_" : "@gyre_mixed_") + std::to_string(::getpid()) + word);
}

/// Runs a test for each seed and adds up the refusals. With many seeds, some refusals must occur.
template <class Body>
void for_each_meeting(Body body) {
  std::size_t refusals = 0;
  unsigned seeds = 0;
  for_each_seed(12, [&](unsigned seed) {
    gyre::run(body(seed, refusals), datagram_loop(seed));
    ++seeds;
  });
  if (seeds >= 12 && !testing::Test::HasFailure()) EXPECT_GT(refusals, 0U);
}

}  // namespace

TEST(mixed_datagram_peers, over_udp_lose_only_what_goes_to_one_that_left_and_hear_of_each_refusal_once) {
  for_each_meeting([](unsigned seed, std::size_t& refusals) -> gyre::task<> {
    datagram_flow<gyre::udp_socket> there(seed);
    datagram_flow<gyre::udp_socket> back(seed + 1'000'000);
    there.numbered = back.numbered = true;
    peer<gyre::udp_socket> first(seed, &there, &back);
    peer<gyre::udp_socket> second(seed + 1, &back, &there);
    take_place(first);
    take_place(second);
    co_await live_together(first, second);
    EXPECT_LE(first.refusals, there.sent - there.taken);
    EXPECT_LE(second.refusals, back.sent - back.taken);
    refusals += first.refusals + second.refusals;
  });
}

TEST(mixed_datagram_peers, with_unix_names_lose_only_what_goes_to_one_that_left) {
  for_each_meeting([](unsigned seed, std::size_t& refusals) -> gyre::task<> {
    datagram_flow<gyre::unix_datagram> there(seed);
    datagram_flow<gyre::unix_datagram> back(seed + 1'000'000);
    there.numbered = back.numbered = true;
    peer<gyre::unix_datagram> first(seed, &there, &back);
    peer<gyre::unix_datagram> second(seed + 1, &back, &there);
    first.local = name_of("first", seed % 2 == 0);
    second.local = name_of("second", seed % 3 == 0);
    co_await live_together(first, second);
    refusals += first.refusals + second.refusals;
  });
}

TEST(mixed_datagram_peers, that_connect_to_a_unix_name_again_lose_only_what_goes_to_one_that_left) {
  for_each_meeting([](unsigned seed, std::size_t& refusals) -> gyre::task<> {
    datagram_flow<gyre::unix_datagram> there(seed);
    there.numbered = true;
    peer<gyre::unix_datagram> client(seed, &there, nullptr);
    peer<gyre::unix_datagram> server(seed + 1, nullptr, &there);
    client.connects = true;
    server.local = name_of("server", seed % 2 == 0);
    co_await live_together(client, server);
    refusals += client.refusals;
  });
}
