// tests/net/bulk_relay.hpp: clients and servers that speak through relays, which move bulk through the pipes of a loop.
#pragma once

#include <gyre/gyre.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/small_segments.hpp"
#include "tests/net/stream_flow.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gyre_test {

inline constexpr std::size_t much = 3'000'000;

inline gyre::io::pipe_pool& pipes() { return gyre::event_loop::current().backend().pipes(); }

/// Buffers that are soon full, so that a stream soon proves to be bulk.
template <class Body>
void run_bulk(Body body) {
  gyre::run_options options;
  options.loop.backend.large_buffer_size = 16 * 1024;
  auto limited = [&body]() -> gyre::task<> {
    co_await gyre::timeout(60s, body);
    EXPECT_EQ(pipes().in_use(), 0U);
    EXPECT_FALSE(pipes().worth_it()) << "nobody moves bulk any more";
    EXPECT_FALSE(gyre::event_loop::current().backend().buffers().in_use());
  };
  EXPECT_NO_THROW(gyre::run(limited, options));
}

/// copy_bidirectional, except that the streams remain when it is cancelled, so that a test can see what has moved.
template <class Stream>
gyre::task<gyre::copied_both_ways> relay(Stream& first, Stream& second) {
  auto both = gyre::gather(gyre::copy_and_end(first, second), gyre::copy_and_end(second, first));
  auto counts = co_await std::move(both);
  co_return gyre::copied_both_ways{counts.template get<0>(), counts.template get<1>()};
}

/// A client and a server that speak through a relay. Must not move while it runs.
template <class Stream = gyre::tcp_stream>
struct relayed {
  Stream client, front, back, server;
  gyre::task_handle<gyre::copied_both_ways> copying;
  bool keeps_streams = false;  // when it is cancelled

  gyre::task<> connect() {
    if constexpr (std::same_as<Stream, gyre::tcp_stream>) {
      for (auto [outer, inner] : {std::pair(&client, &front), std::pair(&server, &back)}) {
        connected_pair pair = small_segment_pair();
        *outer = std::move(pair.client);
        *inner = std::move(pair.server);
      }
    } else {
      for (auto [outer, inner] : {std::pair(&client, &front), std::pair(&server, &back)}) {
        auto pair = gyre::unix_stream::pair();
        *outer = std::move(pair.first);
        *inner = std::move(pair.second);
      }
    }
    co_return;
  }

  gyre::task<> start() {
    co_await connect();
    if (keeps_streams)
      copying = gyre::spawn(relay(front, back));
    else
      copying = gyre::spawn(gyre::copy_bidirectional(front, back));
  }
};

template <class Stream>
gyre::task<> send_bulk(Stream& to, unsigned seed, std::size_t size = much, bool ends = true) {
  const std::vector<std::byte> bytes = pattern(size, seed);
  co_await to.write_all(std::span<const std::byte>(bytes));
  if (ends) co_await to.shutdown_write();
}

/// Reads `size` bytes and checks each, then the end.
template <class Stream>
gyre::task<> expect_bulk(Stream& from, unsigned seed, std::size_t size = much, bool ends = true) {
  std::vector<std::byte> buffer(100'000);
  for (std::size_t position = 0; position < size;) {
    const std::size_t most = std::min(buffer.size(), size - position);
    const std::size_t count = co_await from.read_some(std::span(buffer).first(most));
    if (count == 0) throw std::runtime_error("ended after " + std::to_string(position));
    const std::size_t same = matching(std::span(buffer).first(count), seed, position);
    position += same;
    if (same < count) throw std::runtime_error("byte " + std::to_string(position) + " is another");
  }
  if (!ends) co_return;
  const std::size_t rest = co_await from.read_some(std::span(buffer));
  if (rest != 0) throw std::runtime_error("more than was sent");
}

/// Passes bulk through each of these relays, there and perhaps back, and through all at the same time.
template <class Relays>
gyre::task<> pass_through(Relays& all, bool both_ways = true) {
  std::vector<gyre::task_handle<void>> users;
  unsigned seed = 0;
  for (auto& each : all) {
    users.push_back(gyre::spawn(send_bulk(each.client, ++seed)));
    users.push_back(gyre::spawn(expect_bulk(each.server, seed)));
    if (!both_ways) continue;
    users.push_back(gyre::spawn(send_bulk(each.server, ++seed)));
    users.push_back(gyre::spawn(expect_bulk(each.client, seed)));
  }
  for (auto& each : users) co_await each;
  for (auto& each : all) {
    if (!both_ways) co_await each.server.shutdown_write();
    const auto copied = co_await each.copying;
    EXPECT_EQ(copied.first_to_second, much);
    EXPECT_EQ(copied.second_to_first, both_ways ? much : 0);
  }
}

/// Starts the relays, and makes each prove that it moves bulk in the direction to the server. They wait for more of it.
template <class Relays>
gyre::task<> promote(Relays& all) {
  for (auto& each : all) co_await each.start();
  const std::uint64_t before = pipes().lent();
  for (int n = 0; n < 20 && pipes().lent() == before; ++n) {
    std::vector<gyre::task_handle<void>> users;
    for (auto& each : all) {
      users.push_back(gyre::spawn(send_bulk(each.client, 1, much, false)));
      users.push_back(gyre::spawn(expect_bulk(each.server, 1, much, false)));
    }
    for (auto& each : users) co_await each;
  }
  EXPECT_GT(pipes().lent(), before);
  EXPECT_TRUE(pipes().worth_it());
  co_await settle();
}

/// Promotes the relays, and sends more to their servers, which do not read it. Returns when `count` of them wait with
/// bytes in a pipe. The result sends the rest.
template <class Relays>
gyre::task<std::vector<gyre::task_handle<void>>> stall(Relays& all, std::size_t count) {
  co_await promote(all);
  std::vector<gyre::task_handle<void>> senders;
  for (auto& each : all) {
    each.back.set_send_buffer_size(10'000);
    each.server.set_receive_buffer_size(200'000);
    senders.push_back(gyre::spawn(send_bulk(each.client, 2)));
  }
  for (int n = 0; n < 1000 && pipes().in_use() < count; ++n) co_await settle();
  EXPECT_GE(pipes().in_use(), count);
  co_return senders;
}

inline gyre::task<> cancel_all(std::span<gyre::task_handle<void>> tasks) {
  for (auto& each : tasks) each.cancel();
  for (auto& each : tasks) co_await each.wait();
}

template <class T>
gyre::task<> joined(gyre::task_handle<T>& task) {
  co_await task;
}

template <class Relays>
gyre::task<> cancel_copying(Relays& all) {
  for (auto& each : all) each.copying.cancel();
  for (auto& each : all) co_await each.copying.wait();
}

using two_relays = std::array<relayed<>, 2>;

/// Runs `body` with two relays that move bulk. It may leave them running.
inline void run_promoted(body_ref<two_relays&> body) {
  run_bulk([&]() -> gyre::task<> {
    two_relays here;
    co_await promote(here);
    co_await body(here);
    co_await cancel_copying(here);
  });
}

}  // namespace gyre_test
