// tests/net/mixed_datagrams_test.cpp: every way to receive datagrams, mixed at random, with cancels and time-outs: each comes
// once and in its place. CONTRIBUTING.md says how to run it for longer.
#include <gyre/net/datagram_operations.hpp>

#include <gyre/net/udp_socket.hpp>
#include <gyre/net/unix_datagram.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/random_pause.hpp"

#include <unistd.h>

#include <array>
#include <concepts>
#include <stdexcept>

using namespace gyre_test;

namespace {

/// The datagram of that number; some are empty.
std::vector<std::byte> datagram(unsigned seed, std::size_t number) {
  choices choose(seed * 100'003U + static_cast<unsigned>(number));
  std::vector<std::byte> bytes(choose.one_in(20) ? 0 : choose.size_up_to(450));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>((number * 2'654'435'761U + seed * 97U + i * 31U) >> 3U);
  return bytes;
}

/// The datagrams from one socket to the other, and how far the receiver is.
template <class Socket>
struct flow {
  flow(unsigned number, Socket& sender, Socket& receiver)
      : seed(number), choose(number), to(&sender), from(&receiver), total(choose.between(1, 15) * 100) {}

  /// Datagrams that receive() has ordered lie in buffers of the loop, which may be smaller than the room of the caller.
  void take(std::span<const std::byte> bytes, std::size_t room, bool truncated) {
    const std::vector<std::byte> expected = datagram(seed, next);
    const std::size_t least = std::min({room, lease_room, expected.size()});
    const bool fits = bytes.size() >= least && bytes.size() <= expected.size();
    if (next == total || !fits || !std::equal(bytes.begin(), bytes.end(), expected.begin()))
      throw std::runtime_error("datagram " + std::to_string(next) + " of " + std::to_string(total) + " is another");
    if (truncated != (bytes.size() < expected.size())) throw std::runtime_error("what is truncated is not told");
    ++next;
  }
  [[nodiscard]] std::chrono::microseconds moment() { return std::chrono::microseconds(choose.below(300)); }

  unsigned seed;
  choices choose;
  Socket* to;
  Socket* from;
  std::size_t total;
  std::size_t sent = 0;
  std::size_t next = 0;
  int in_haste = 0;  // the next ones are taken one right behind the other
  std::size_t lease_room = 0;
  bool to_peer = false;
  std::vector<gyre::buffer_lease> kept;
};

template <class Socket>
gyre::task<> send(flow<Socket>& all) {
  // As many as receive() orders ahead, or more; the kernel drops what does not fit.
  const std::size_t most_under_way = all.choose.one_in(3) ? 100 : 64;
  while (all.sent < all.total) {
    for (std::size_t n = all.choose.between(1, 100); n > 0 && all.sent < all.total; --n) {
      while (all.sent - all.next >= most_under_way) co_await gyre::sleep(std::chrono::microseconds(50));
      const std::vector<std::byte> bytes = datagram(all.seed, all.sent++);
      const std::span<const std::byte> range = bytes;
      if (all.to_peer)
        co_await all.to->send(range);
      else
        co_await all.to->send_to(range, all.from->local_address());
    }
    co_await pause(all.choose);
  }
}

template <class Socket>
gyre::task<> receive_lease(flow<Socket>& all) {
  auto receiving = all.from->receive();
  if (all.choose.one_in(3)) {
    auto lease = co_await gyre::timeout(all.moment(), std::move(receiving));
    all.take(lease.bytes.bytes(), all.lease_room, lease.truncated);
    co_return;
  }
  auto lease = co_await std::move(receiving);
  all.take(lease.bytes.bytes(), all.lease_room, lease.truncated);
  if (all.kept.size() == 2) all.kept.clear();
  all.kept.push_back(std::move(lease.bytes));
}

template <class Socket>
gyre::task<> receive_copy(flow<Socket>& all) {
  std::vector<std::byte> buffer(all.choose.one_in(4) ? all.choose.between(1, 100) : 500);
  auto receiving = all.from->receive_from(buffer);
  if (all.choose.one_in(3)) {
    const auto came = co_await gyre::timeout(all.moment(), std::move(receiving));
    all.take(std::span(buffer).first(came.size), buffer.size(), came.truncated);
    co_return;
  }
  const auto came = co_await std::move(receiving);
  all.take(std::span(buffer).first(came.size), buffer.size(), came.truncated);
}

template <class Socket>
GYRE_CORO_WRAPPER gyre::task<> receive_somehow(flow<Socket>& all) {
  if (all.in_haste == 0 && all.choose.one_in(2)) return receive_lease(all);
  return receive_copy(all);
}

/// Receives in a task of its own, which is cancelled in the middle.
template <class Socket>
gyre::task<> receive_and_cancel(flow<Socket>& all) {
  auto receiving = gyre::spawn(receive_somehow(all));
  co_await pause(all.choose);
  if (all.choose.one_in(2)) all.from->cancel();  // no effect when it has not begun
  if (all.next == all.total || all.choose.one_in(2)) receiving.cancel();
  co_await receiving.wait();
  receiving.result();
}

template <class Socket>
gyre::task<> receive_once(flow<Socket>& all) {
  try {
    switch (all.in_haste > 1 ? 3 : all.choose.below(4)) {
      case 0: {
        auto limited = gyre::timeout(all.moment(), receive_somehow(all));
        co_await std::move(limited);
        break;
      }
      case 1:
        co_await receive_and_cancel(all);
        break;
      default:
        if (all.next == all.total) co_return;  // nothing more will come
        co_await receive_somehow(all);
        break;
    }
  } catch (const gyre::timed_out&) {  // it goes on with the next one
  } catch (const gyre::task_cancelled&) {
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::operation_canceled) throw;
  }
}

/// Lets as many arrive as receive() orders ahead, which ends it, and then takes them so that the end may be on its way.
template <class Socket>
gyre::task<> let_them_come(flow<Socket>& all) {
  for (int n = 0; n < 1'000 && all.sent < all.total && all.sent - all.next < 64; ++n) co_await gyre::yield();
  for (std::size_t n = all.choose.size_up_to(400); n > 0; --n) co_await gyre::yield();
  all.in_haste = static_cast<int>(all.choose.between(63, 66));
}

/// Goes on for a while when everything has come: what waits then must still hear its cancel.
template <class Socket>
gyre::task<> receive(flow<Socket>& all) {
  for (int after = 0; after < 5;) {
    co_await receive_once(all);
    if (all.next == all.total) ++after;
    if (all.in_haste > 0 && --all.in_haste > 0) continue;
    if (all.choose.one_in(6))
      co_await let_them_come(all);
    else
      co_await pause(all.choose);
  }
  all.kept.clear();
}

template <class Socket>
gyre::task<> transfer(unsigned seed, Socket& sender, Socket& receiver, bool to_peer) {
  flow<Socket> there(seed, sender, receiver);
  there.to_peer = to_peer;
  there.lease_room = gyre::event_loop::current().backend().buffers().buffer_size() - 152;
  auto body = [&](gyre::task_group& group) -> gyre::task<> {
    group.spawn(send(there));
    group.spawn(receive(there));
    co_return;
  };
  co_await gyre::task_group::scope(body);
}

gyre::run_options loop_for(unsigned seed) {
  choices choose(seed);
  gyre::run_options options;
  options.loop.backend.buffer_count = 16U << choose.below(5);
  options.loop.backend.buffer_size = 512U << choose.below(4);
  const std::array<int, 3> turns{1, 5, 128};
  options.loop.ready_per_turn = turns[choose.below(3)];
  return options;
}

template <class Transfer>
void for_each_loop(Transfer transfer_all) {
  for_each_seed(40, [&](unsigned seed) { gyre::run(transfer_all(seed), loop_for(seed)); });
}

}  // namespace

TEST(mixed_datagrams, over_udp_each_comes_once_and_in_its_place) {
  for_each_loop([](unsigned seed) -> gyre::task<> {
    auto sender = gyre::udp_socket::bind("127.0.0.1:0");
    auto receiver = gyre::udp_socket::bind("127.0.0.1:0");
    co_await transfer(seed, sender, receiver, false);
  });
}

TEST(mixed_datagrams, over_connected_udp_each_comes_once_and_in_its_place) {
  for_each_loop([](unsigned seed) -> gyre::task<> {
    auto receiver = gyre::udp_socket::bind("127.0.0.1:0");
    auto sender = gyre::udp_socket::connected(receiver.local_address());
    receiver.connect(sender.local_address());
    co_await transfer(seed, sender, receiver, true);
  });
}

TEST(mixed_datagrams, between_unix_sockets_each_comes_once_and_in_its_place) {
  for_each_loop([](unsigned seed) -> gyre::task<> {
    auto pair = gyre::unix_datagram::pair();
    co_await transfer(seed, pair.first, pair.second, true);
  });
}

TEST(mixed_datagrams, to_the_name_of_a_unix_socket_each_comes_once_and_in_its_place) {
  for_each_loop([](unsigned seed) -> gyre::task<> {
    const std::string name = "@gyre_mixed_" + std::to_string(::getpid()) + "_";
    auto sender = gyre::unix_datagram::bind(gyre::unix_address(name + "sender"));
    auto receiver = gyre::unix_datagram::bind(gyre::unix_address(name + "receiver"));
    co_await transfer(seed, sender, receiver, false);
  });
}
