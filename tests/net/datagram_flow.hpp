// tests/net/datagram_flow.hpp: one direction between datagram sockets, with datagrams that show their position.
#pragma once

#include <gyre/gyre.hpp>

#include "tests/net/random_pause.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre_test {

/// The datagram with that number. Some are empty, unless each begins with its number.
inline std::vector<std::byte> datagram(unsigned seed, std::size_t number, bool numbered) {
  choices choose(seed * 100'003U + static_cast<unsigned>(number));
  std::vector<std::byte> bytes(choose.one_in(20) ? 0 : choose.size_up_to(450));
  const auto shown = static_cast<std::uint32_t>(number);
  if (numbered) bytes.resize(std::max(bytes.size(), sizeof(shown)));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>((number * 2'654'435'761U + seed * 97U + i * 31U) >> 3U);
  if (numbered) std::memcpy(bytes.data(), &shown, sizeof(shown));
  return bytes;
}

/// The datagrams from one socket to the other, and the progress of the receiver.
template <class Socket>
struct datagram_flow {
  using address = std::remove_cvref_t<decltype(std::declval<Socket&>().local_address())>;

  explicit datagram_flow(unsigned number)
      : seed(number),
        choose(number),
        total(choose.between(1, 15) * 100),
        lease_room(gyre::event_loop::current().backend().buffers().buffer_size() - 152) {}

  /// Datagrams that receive() has requested in advance lie in the loop's buffers, which may be smaller than the
  /// caller's.
  void take(std::span<const std::byte> bytes, std::size_t room, bool truncated) {
    if (numbered) skip_lost_ones(bytes);
    const std::vector<std::byte> expected = datagram(seed, next, numbered);
    const std::size_t least = std::min({room, lease_room, expected.size()});
    const bool fits = bytes.size() >= least && bytes.size() <= expected.size();
    if (next == total || !fits || !std::equal(bytes.begin(), bytes.end(), expected.begin()))
      throw std::runtime_error("datagram " + std::to_string(next) + " of " + std::to_string(total) + " is another");
    if (truncated != (bytes.size() < expected.size())) throw std::runtime_error("what is truncated is not told");
    ++next;
    ++taken;
  }
  /// Datagrams before `may_be_lost` may be missing. No other datagram may arrive in their place, and none twice.
  void skip_lost_ones(std::span<const std::byte> bytes) {
    std::uint32_t number = 0;
    if (bytes.size() < sizeof(number)) throw std::runtime_error("a datagram has no number");
    std::memcpy(&number, bytes.data(), sizeof(number));
    if (number < next) throw std::runtime_error("datagram " + std::to_string(number) + " comes again or too late");
    if (number > std::max(next, may_be_lost))
      throw std::runtime_error("datagram " + std::to_string(next) + " is lost, " + std::to_string(number) + " comes");
    next = number;
  }
  /// Everything sent so far goes to a receiver that has left.
  void lose_what_is_under_way() { may_be_lost = std::max(may_be_lost, sent + (sending ? 1 : 0)); }
  [[nodiscard]] std::size_t under_way() const {
    const std::size_t settled = std::max(next, may_be_lost);
    return sent > settled ? sent - settled : 0;
  }
  [[nodiscard]] std::chrono::microseconds moment() { return std::chrono::microseconds(choose.below(300)); }

  unsigned seed;
  choices choose;
  Socket* to = nullptr;
  Socket* from = nullptr;
  std::size_t total;
  std::size_t lease_room;
  std::size_t sent = 0;
  std::size_t next = 0;
  std::size_t taken = 0;
  std::size_t may_be_lost = 0;
  bool sending = false;   // the datagram after those already sent is being sent
  bool numbered = false;  // each datagram begins with its number
  bool to_peer = false;   // sends to the socket's peer, otherwise to `destination`
  address destination;
  int in_haste = 0;  // this many datagrams are taken without a pause
  std::vector<gyre::buffer_lease> kept;
};

/// Sends the next datagram. It counts once the socket reports that it has been sent.
template <class Socket>
gyre::task<> send_next(datagram_flow<Socket>& all) {
  const std::vector<std::byte> bytes = datagram(all.seed, all.sent, all.numbered);
  const std::span<const std::byte> range = bytes;
  struct mark {
    explicit mark(bool& flag) : sending(flag) { sending = true; }
    mark(const mark&) = delete;
    ~mark() { sending = false; }
    bool& sending;
  };
  const mark under_way(all.sending);
  if (all.to_peer)
    co_await all.to->send(range);
  else
    co_await all.to->send_to(range, all.destination);
  ++all.sent;
}

template <class Socket>
gyre::task<> receive_lease(datagram_flow<Socket>& all) {
  auto receiving = all.from->receive();
  if (all.choose.one_in(3)) {
    auto lease = co_await gyre::timeout(all.moment(), std::move(receiving));
    all.take(lease.payload, all.lease_room, lease.truncated);
    co_return;
  }
  auto lease = co_await std::move(receiving);
  all.take(lease.payload, all.lease_room, lease.truncated);
  if (all.kept.size() == 2) all.kept.clear();
  all.kept.push_back(std::move(lease.payload));
}

template <class Socket>
gyre::task<> receive_copy(datagram_flow<Socket>& all) {
  const std::size_t least = all.numbered ? sizeof(std::uint32_t) : 1;
  std::vector<std::byte> buffer(all.choose.one_in(4) ? all.choose.between(least, 100) : 500);
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
GYRE_CORO_WRAPPER gyre::task<> receive_somehow(datagram_flow<Socket>& all) {
  if (all.in_haste == 0 && all.choose.one_in(2)) return receive_lease(all);
  return receive_copy(all);
}

/// Receives in a separate task, which is cancelled midway.
template <class Socket>
gyre::task<> receive_and_cancel(datagram_flow<Socket>& all) {
  auto body = [&all](gyre::task_group& group) -> gyre::task<> {
    auto receiving = group.spawn(receive_somehow(all));
    co_await pause(all.choose);
    if (all.choose.one_in(2)) all.from->cancel();  // no effect unless it has begun
    if (all.next == all.total || all.choose.one_in(2)) receiving.cancel();
    co_await receiving.wait();
  };
  co_await gyre::task_group::scope(std::move(body));
}

template <class Socket>
gyre::task<> receive_once(datagram_flow<Socket>& all) {
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
  } catch (const gyre::timed_out&) {  // it continues with the next datagram
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::operation_canceled) throw;
  }
}

/// Waits for as many datagrams as receive() requests in advance, which ends that request, and then has them taken
/// without a pause, while the notice of the end may still be in flight.
template <class Socket>
gyre::task<> let_them_come(datagram_flow<Socket>& all) {
  for (int n = 0; n < 1'000 && all.sent < all.total && all.under_way() < 64; ++n) co_await gyre::yield();
  for (std::size_t n = all.choose.size_up_to(400); n > 0; --n) co_await gyre::yield();
  all.in_haste = static_cast<int>(all.choose.between(63, 66));
}

/// Between two calls: usually lets other tasks run, but not while in haste.
template <class Socket>
gyre::task<> rest_from_receiving(datagram_flow<Socket>& all) {
  if (all.in_haste > 0 && --all.in_haste > 0) co_return;
  if (all.choose.one_in(6))
    co_await let_them_come(all);
  else
    co_await pause(all.choose);
}

/// Loops of different sizes, so that buffers and turns run out at different places.
inline gyre::run_options datagram_loop(unsigned seed) {
  choices choose(seed);
  gyre::run_options options;
  options.loop.backend.buffer_count = 16U << choose.below(5);
  options.loop.backend.buffer_size = 512U << choose.below(4);
  const std::array<int, 3> turns{1, 5, 128};
  options.loop.ready_per_turn = turns[choose.below(3)];
  return options;
}

}  // namespace gyre_test
