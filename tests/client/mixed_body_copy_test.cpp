// tests/client/mixed_body_copy_test.cpp: bodies of all kinds are passed on in both directions at once, for many seeds.
#include "tests/client/relay_client.hpp"
#include "tests/net/random_loop.hpp"
#include "tests/support/seeds.hpp"

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

ordered_body order_of(choices& choose, std::span<const std::string_view> kinds, unsigned seed) {
  std::size_t size = choose.size_up_to(200'000);
  if (choose.one_in(2)) size = choose.between(100'000, 3'000'000);
  if (choose.one_in(5)) size = choose.between(1, 8) << choose.between(12, 18);
  return {std::string(kinds[choose.below(kinds.size())]), seed, size};
}

bool is_broken(const ordered_body& order) {
  return order.kind == "short" || order.kind == "reset" || order.kind == "stall";
}

/// Reads or sends a body in pieces, with pauses. Leaves in the middle at times. Returns the bytes that were moved.
template <class Move>
gyre::task<std::size_t> move_in_pieces(relay_client& client, choices& choose, std::size_t size, Move move) {
  const bool leaves = choose.one_in(6);
  const bool slow = choose.one_in(4);
  std::size_t moved = 0;
  for (std::size_t to = 0; moved < size && moved == to;) {
    to = std::min(size, to + choose.between(1, 300'000));
    moved = co_await move(moved, to);
    if (leaves && choose.one_in(3)) {
      client.stream().set_reset_on_close(choose.one_in(2));
      client.stream() = gyre::tcp_stream();
      break;
    }
    if (slow) co_await gyre::sleep(std::chrono::microseconds(choose.below(3000)));
  }
  co_return moved;
}

/// Returns false when the connection is over.
gyre::task<bool> download_some(relay_client& client, choices& choose, const ordered_body& order) {
  const bool old = choose.one_in(5);
  co_await client.ask(order, "GET", old ? "1.0" : "1.1");
  const std::string head = co_await client.head();
  if (!head.starts_with("HTTP/1.1 200 ")) co_return false;         // the server behind has failed before its head
  if (head.find("chunked") != std::string::npos) co_return false;  // read by an http::client, see fetch_whole()
  const auto read = [&] GYRE_CORO_WRAPPER(std::size_t, std::size_t to) { return client.read(order.seed, to); };
  const std::size_t size = co_await move_in_pieces(client, choose, order.size, read);
  if (!client.stream().is_open()) co_return false;
  if (is_broken(order) && order.size > 1) {
    EXPECT_LT(size, order.size) << order.target();
    EXPECT_TRUE(client.messages().was_reset()) << order.target() << ": a part looks like the whole";
  }
  co_return size == order.size && !client.messages().was_reset() && !old;
}

/// Returns false when the connection is over.
gyre::task<bool> upload_some(relay_client& client, choices& choose, const ordered_body& order) {
  co_await client.begin(order);
  const auto give = [&] GYRE_CORO_WRAPPER(std::size_t from, std::size_t to) {
    return client.messages().give(order.seed, from, to);
  };
  const std::size_t size = co_await move_in_pieces(client, choose, order.size, give);
  if (size < order.size || !client.stream().is_open()) co_return false;
  const std::string answer = co_await client.answer();
  if (order.kind == "take") EXPECT_TRUE(answer == "200 taken" || answer.empty() || answer.starts_with("50")) << answer;
  co_return answer == "200 taken";
}

/// By the client of the library, which understands every framing.
gyre::task<> fetch_whole(relay& server, const ordered_body& order) {
  http::client client;
  try {
    auto response = co_await client.get("http://" + server.where() + order.target());
    const std::string body = co_await response.read_all();
    if (response.status() == 200) EXPECT_TRUE(body == patterned(order.seed, 0, order.size)) << order.target();
  } catch (const gyre::io_error&) {
    EXPECT_TRUE(is_broken(order) || server.stopping()) << order.target();
  }
}

gyre::task<> visit(relay& server, unsigned seed) {
  constexpr std::array<std::string_view, 10> given{"sized", "sized", "sized", "sized", "chunked",
                                                   "end",   "short", "reset", "stall", "more"};
  constexpr std::array<std::string_view, 8> taken{"take", "take", "take", "slow", "early", "reset", "stall", "mute"};
  choices choose(seed);
  if (server.stopping()) co_return;
  for (std::size_t n = choose.between(1, 3); n > 0; --n) {
    if (choose.one_in(5)) {
      co_await fetch_whole(server, order_of(choose, given, seed));
      continue;
    }
    auto client = co_await relay_client::connect(server);
    if (choose.one_in(3)) client.stream().set_receive_buffer_size(20'000);
    for (bool goes_on = true; goes_on && choose.below(4) > 0;) {
      const bool down = choose.one_in(2);
      const ordered_body order = down ? order_of(choose, given, seed) : order_of(choose, taken, seed);
      auto some = down ? download_some(client, choose, order) : upload_some(client, choose, order);
      goes_on = co_await std::move(some);
    }
  }
}

/// Clients that come at once, of which some are cancelled. Other bytes than those of a body fail the test.
gyre::task<> visit_at_once(relay& server, choices& choose, unsigned seed) {
  const auto one = [&](unsigned n) -> gyre::task<> {
    try {
      co_await visit(server, seed * 100 + n);
    } catch (const gyre::io_error&) {  // the server has been told to stop
    } catch (const std::exception& failure) {
      ADD_FAILURE() << failure.what();
    }
  };
  std::vector<gyre::task_handle<void>> all;
  for (unsigned n = 0; n < choose.between(2, 12); ++n) all.push_back(gyre::spawn(one(n)));
  for (std::size_t n = choose.below(4); n > 0; --n) {
    co_await gyre::sleep(std::chrono::milliseconds(choose.below(20)));
    all[choose.below(all.size())].cancel();
  }
  if (choose.one_in(6)) server.tell_to_stop();
  const bool in_the_middle = choose.one_in(6);
  if (!in_the_middle)
    for (auto& each : all) co_await each.wait();
  co_await server.stop();
  for (auto& each : all) {
    if (in_the_middle) each.cancel();
    co_await each.wait();
  }
}

}  // namespace

TEST(mixed_body_copy, each_byte_is_passed_on_and_nothing_is_left_behind) {
  std::uint64_t lent = 0;
  for_each_seed(12, [&](unsigned seed) {
    const auto body = [&, seed]() -> gyre::task<> {
      expect_failures();
      choices choose(seed);
      http::client_options impatient;
      impatient.timeouts.between_bytes = impatient.timeouts.first_byte = 200ms;
      impatient.limits.connections_per_origin = choose.between(2, 20);
      http::server_options options;
      options.timeouts.write = options.timeouts.body = choose.one_in(2) ? 500ms : 30s;
      options.timeouts.drain = 1ms;
      relayed_origin origin;
      relay server(origin.url(), impatient, std::move(options));
      origin.start();
      server.start();
      co_await visit_at_once(server, choose, seed);
      EXPECT_EQ(server.client().counts().in_use, 0U);
      EXPECT_EQ(pipes().in_use(), 0U);
      EXPECT_FALSE(pipes().worth_it());
      lent += pipes().lent();
      co_await origin.stop();
    };
    gyre::run(body, loop_for(seed));
  });
  EXPECT_GT(lent, 0U) << "pipes have been used";
}
