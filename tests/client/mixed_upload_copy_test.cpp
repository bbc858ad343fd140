// tests/client/mixed_upload_copy_test.cpp: bodies of requests of all kinds are passed on at once, for many seeds.
#include "tests/client/mixed_visitors.hpp"
#include "tests/client/upload_server.hpp"
#include "tests/support/seeds.hpp"

#include <array>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

ordered_body upload_order(choices& choose, unsigned seed) {
  const std::array<std::string_view, 8> kinds{"take", "take", "take", "slow", "early", "reset", "stall", "mute"};
  std::size_t size = choose.size_up_to(200'000);
  if (choose.one_in(2)) size = choose.between(100'000, 3'000'000);
  if (choose.one_in(5)) size = choose.between(1, 8) << choose.between(12, 18);
  return {std::string(kinds[choose.below(kinds.size())]), seed, size};
}

/// Sends a body in pieces, with pauses, and leaves in the middle at times. Returns false when the connection is over.
gyre::task<bool> send_upload(uploader& client, choices& choose, const ordered_body& order) {
  const bool leaves = choose.one_in(6);
  const bool slow = choose.one_in(4);
  co_await client.begin(order);
  std::size_t sent = 0;
  while (sent < order.size) {
    const std::size_t to = std::min(order.size, sent + choose.between(1, 300'000));
    sent = co_await client.messages().give(order.seed, sent, to);
    if (sent < to) co_return false;
    if (leaves && choose.one_in(3)) {
      client.leave();
      co_return false;
    }
    if (slow) co_await gyre::sleep(std::chrono::microseconds(choose.below(3000)));
  }
  const std::string answer = co_await client.messages().answer();
  if (order.kind == "take") EXPECT_TRUE(answer == "200 taken" || answer.empty() || answer.starts_with("50")) << answer;
  co_return answer == "200 taken";
}

gyre::task<> visit_with_uploads(upload_server& server, unsigned seed) {
  choices choose(seed);
  for (std::size_t n = choose.between(1, 3); n > 0; --n) {
    auto connecting = uploader::connect(server);
    auto client = co_await gyre::as_result(std::move(connecting));
    if (!client) co_return;  // the server has been told to stop
    for (bool goes_on = true; goes_on && choose.below(4) > 0;) {
      const ordered_body order = upload_order(choose, seed);
      auto using_it = send_upload(*client, choose, order);
      const auto used = co_await gyre::as_result(std::move(using_it));
      goes_on = used && *used;
    }
  }
}

}  // namespace

TEST(mixed_upload_copy, passes_on_each_byte_and_leaves_nothing_behind) {
  std::uint64_t lent = 0;
  for_each_seed(8, [&](unsigned seed) {
    const auto body = [&, seed]() -> gyre::task<> {
      expect_failures();
      choices choose(seed);
      http::client_options impatient;
      impatient.timeouts.between_bytes = impatient.timeouts.first_byte = 200ms;
      impatient.limits.connections_per_origin = choose.between(2, 20);
      http::server_options options;
      options.timeouts.body = choose.one_in(2) ? 500ms : 30s;
      options.timeouts.drain = 1ms;
      passing_origin origin(take_what_is_sent);
      upload_server server(origin.url(), impatient, std::move(options));
      origin.start();
      server.start();
      const auto one = [&] GYRE_CORO_WRAPPER(unsigned n) { return visit_with_uploads(server, seed * 100 + n); };
      mixed_visitors visitors(choose, one);
      co_await visitors.cancel_some();
      co_await visitors.end_with(server);
      lent += pipes().lent();
      co_await origin.stop();
    };
    gyre::run(body, loop_for(seed));
  });
  EXPECT_GT(lent, 0U) << "pipes have been used";
}
