// tests/client/mixed_body_copy_test.cpp: bodies of all kinds are passed on at the same time, for many seeds.
#include "tests/client/mixed_visitors.hpp"
#include "tests/client/passing_server.hpp"
#include "tests/support/seeds.hpp"

#include <array>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

ordered_body order_of(choices& choose, unsigned seed) {
  const std::array<std::string_view, 10> kinds{"sized", "sized", "sized", "sized", "chunked",
                                               "end",   "short", "reset", "stall", "more"};
  std::size_t size = choose.size_up_to(200'000);
  if (choose.one_in(2)) size = choose.between(100'000, 3'000'000);
  if (choose.one_in(5)) size = choose.between(1, 8) << choose.between(12, 18);
  return {std::string(kinds[choose.below(kinds.size())]), seed, size};
}

/// Reads a response in pieces, with pauses. Leaves in the middle at times. Returns false when the connection is over.
gyre::task<bool> use(checking_client& client, choices& choose, const ordered_body& order) {
  const bool old = choose.one_in(5);
  co_await client.ask(order, "GET", old ? "1.0" : "1.1");
  const std::string head = co_await client.head();
  if (!head.starts_with("HTTP/1.1 200 ")) co_return false;  // the server behind has failed before its head
  const bool in_chunks = head.find("chunked") != std::string::npos;
  if (in_chunks) co_return false;  // read by an http::client, see fetch_whole()
  const bool leaves = choose.one_in(6);
  const bool slow = choose.one_in(4);
  client.begin();
  std::size_t read = 0;
  for (std::size_t most = 0; read < order.size && read == most;) {
    most = std::min(order.size, most + choose.between(1, 300'000));
    read = co_await client.read(order.seed, most);
    if (leaves && choose.one_in(3)) {
      client.stream().set_reset_on_close(choose.one_in(2));
      client.stream() = gyre::tcp_stream();
      co_return false;
    }
    if (slow) co_await gyre::sleep(std::chrono::microseconds(choose.below(3000)));
  }
  const bool is_broken = order.kind == "short" || order.kind == "reset" || order.kind == "stall";
  if (is_broken && order.size > 1) {
    EXPECT_LT(read, order.size) << order.target();
    EXPECT_TRUE(client.was_reset()) << order.target() << ": a part looks like the whole";
  }
  co_return read == order.size && !client.was_reset() && !old;
}

/// By the client of the library, which understands every framing.
gyre::task<> fetch_whole(passing_server& server, const ordered_body& order) {
  http::client client;
  try {
    auto response = co_await client.get("http://" + server.where() + order.target());
    const std::string body = co_await response.read_all();
    if (response.status() == 200) EXPECT_TRUE(body == patterned(order.seed, 0, order.size)) << order.target();
  } catch (const gyre::io_error&) {
    const bool is_broken = order.kind == "short" || order.kind == "reset" || order.kind == "stall";
    EXPECT_TRUE(is_broken || server.stopping()) << order.target();
  }
}

gyre::task<> visit(passing_server& server, unsigned seed) {
  choices choose(seed);
  if (server.stopping()) co_return;
  for (std::size_t n = choose.between(1, 3); n > 0; --n) {
    if (choose.one_in(3)) {
      co_await fetch_whole(server, order_of(choose, seed));
      continue;
    }
    auto client = co_await checking_client::connect(server);
    if (choose.one_in(3)) client.stream().set_receive_buffer_size(20'000);
    for (bool goes_on = true; goes_on && choose.below(4) > 0;) {
      const ordered_body order = order_of(choose, seed);
      goes_on = co_await use(client, choose, order);
    }
  }
}

}  // namespace

TEST(mixed_body_copy, passes_on_each_byte_and_leaves_nothing_behind) {
  std::uint64_t lent = 0;
  for_each_seed(8, [&](unsigned seed) {
    const auto body = [&, seed]() -> gyre::task<> {
      expect_failures();
      choices choose(seed);
      http::client_options impatient;
      impatient.timeouts.between_bytes = 200ms;
      impatient.limits.connections_per_origin = choose.between(2, 20);
      http::server_options options;
      options.timeouts.write = choose.one_in(2) ? 500ms : 30s;
      options.timeouts.drain = 1ms;
      passing_origin origin;
      passing_server server(origin.url(), impatient, std::move(options));
      origin.start();
      server.start();
      const auto one = [&] GYRE_CORO_WRAPPER(unsigned n) { return visit(server, seed * 100 + n); };
      mixed_visitors visitors(choose, one);
      co_await visitors.cancel_some();
      if (choose.one_in(6)) server.tell_to_stop();
      co_await visitors.end_with(server);
      lent += pipes().lent();
      co_await origin.stop();
    };
    gyre::run(body, loop_for(seed));
  });
  EXPECT_GT(lent, 0U) << "pipes have been used";
}
