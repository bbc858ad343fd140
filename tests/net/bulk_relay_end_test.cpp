// tests/net/bulk_relay_end_test.cpp: relays that move bulk, and are cancelled, reset, closed, or see the end.
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/net/bulk_relay.hpp"

using namespace gyre_test;

TEST(bulk_relay, that_is_cancelled_with_bytes_in_a_pipe_leaves_none_of_them_to_others) {
  run_bulk([]() -> gyre::task<> {
    std::array<relayed<>, 3> stalled;
    auto senders = co_await stall(stalled, stalled.size());
    co_await cancel_copying(stalled);
    for (auto& each : stalled) {
      EXPECT_TRUE(each.copying.state().was_cancelled());
      const auto next = co_await gyre::as_expected(each.back.write_all("of something else"));
      EXPECT_EQ(next.error(), gyre::stream_errc::write_cut_off) << "it would be read as the rest of the piece";
    }
    EXPECT_EQ(pipes().in_use(), 0U);
    co_await cancel_all(senders);
    const std::uint64_t before = pipes().lent();
    std::array<relayed<>, 3> others;
    for (auto& each : others) co_await each.start();
    co_await pass_through(others);
    EXPECT_GT(pipes().lent(), before);
  });
}

TEST(bulk_relay, that_is_cancelled_while_it_waits_leaves_later_bytes_to_the_next_reader) {
  run_bulk([]() -> gyre::task<> {
    two_relays here;
    for (auto& each : here) each.keeps_streams = true;
    co_await promote(here);
    co_await cancel_copying(here);
    relayed<>& one = here[0];
    co_await send_bulk(one.client, 5, 50'000);
    co_await expect_bulk(one.front, 5, 50'000);
    co_await one.back.write_all("the connection still works");
  });
}

TEST(bulk_relay, that_is_cancelled_in_the_turn_in_which_bytes_arrive_moves_each_once_or_leaves_it) {
  for (std::size_t yields = 0; yields < 8; ++yields) {
    run_bulk([yields]() -> gyre::task<> {
      two_relays here;
      for (auto& each : here) each.keeps_streams = true;
      co_await promote(here);
      relayed<>& one = here[0];
      co_await send_bulk(one.client, 5, 50'000);
      for (std::size_t n = 0; n < yields; ++n) co_await gyre::yield();
      co_await cancel_copying(here);
      std::vector<std::byte> got;
      std::vector<std::byte> buffer(100'000);
      co_await one.back.close();
      while (const std::size_t n = co_await one.server.read_some(std::span(buffer)))
        got.insert(got.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(n));
      while (const std::size_t n = co_await one.front.read_some(std::span(buffer)))
        got.insert(got.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(n));
      EXPECT_LE(got.size(), 50'000U);  // a piece that was taken and not written is lost, as copy() says
      if (got.size() == 50'000) EXPECT_EQ(matching(got, 5, 0), got.size());
    });
  }
}

TEST(bulk_relay, that_is_cancelled_anywhere_has_passed_on_a_prefix_of_what_was_sent) {
  std::array<std::size_t, 2> received{};
  std::uint64_t lent = 0;
  const auto receive = [&](gyre::tcp_stream& from, unsigned seed) -> gyre::task<> {
    std::vector<std::byte> buffer(100'000);
    std::size_t& position = received[seed];
    while (const std::size_t count = co_await from.read_some(std::span(buffer))) {
      if (matching(std::span(buffer).first(count), seed, position) < count) throw std::runtime_error("another byte");
      position += count;
    }
  };
  constexpr std::size_t size = 400'000;
  auto scenario = [&]() -> gyre::task<> {
    received = {};
    two_relays here;
    auto all = gyre::task_group::scope([&](gyre::task_group& group) -> gyre::task<> {
      for (unsigned n = 0; n < here.size(); ++n) {
        relayed<>& each = here[n];
        co_await each.connect();
        group.spawn(gyre::copy_to_end(each.front, each.back));
        group.spawn(send_bulk(each.client, n, size));
        group.spawn(receive(each.server, n));
      }
    });
    co_await std::move(all);
    lent += pipes().lent();
  };
  gyre::loop_options options;
  options.backend.large_buffer_size = 16 * 1024;
  const auto report = gyre::testing::cancel_at_every_await(
      scenario,
      [&](bool was_cancelled) {
        for (const std::size_t each : received) EXPECT_TRUE(was_cancelled ? each <= size : each == size) << each;
      },
      options);
  EXPECT_GT(report.cancelled, 5U);
  EXPECT_GT(lent, 0U);
}

TEST(bulk_relay, reports_a_reset_of_its_source_as_an_error_and_passes_it_on) {
  run_promoted([](two_relays& here) -> gyre::task<> {
    relayed<>& one = here[0];
    one.client.set_reset_on_close(true);
    one.client = gyre::tcp_stream();
    const std::string failure = co_await error_of(joined(one.copying));
    EXPECT_NE(failure.find("receive "), std::string::npos) << failure;
    EXPECT_NE(failure.find("Connection reset by peer"), std::string::npos) << failure;
    const std::string seen = co_await error_of(expect_bulk(one.server, 0));
    EXPECT_NE(seen.find("Connection reset by peer"), std::string::npos) << seen << " instead of an end";
  });
}

TEST(bulk_relay, reports_a_reset_in_the_middle_of_bulk_as_an_error) {
  run_bulk([]() -> gyre::task<> {
    for (int n = 0; n < 10; ++n) {
      two_relays here;
      co_await promote(here);
      relayed<>& one = here[0];
      auto reading = gyre::spawn(expect_bulk(one.server, 1));
      auto writing = gyre::spawn(send_bulk(one.client, 1, much, false));
      for (int i = 0; i < n; ++i) co_await gyre::yield();
      one.client.abort();
      const std::string failure = co_await error_of(joined(one.copying));
      EXPECT_NE(failure, "");
      const std::string seen = co_await error_of(joined(reading));
      EXPECT_NE(seen, "") << "a part looks like the whole";
      (void)co_await error_of(joined(writing));
      co_await cancel_copying(here);
    }
  });
}

TEST(bulk_relay, into_a_connection_that_was_reset_is_an_error_and_no_signal) {
  run_bulk([]() -> gyre::task<> {
    std::array<relayed<>, 3> all;
    auto senders = co_await stall(all, 1);
    for (auto& each : all) {
      each.server.set_reset_on_close(true);
      each.server = gyre::tcp_stream();
      const std::string failure = co_await error_of(joined(each.copying));
      EXPECT_NE(failure, "");
    }
    for (auto& each : senders) co_await each.wait();
  });
}

TEST(bulk_relay, passes_on_the_end_of_one_direction_while_the_other_goes_on) {
  run_promoted([](two_relays& here) -> gyre::task<> {
    for (auto& each : here) {
      co_await each.client.shutdown_write();
      std::array<std::byte, 10> rest;
      EXPECT_EQ(co_await each.server.read_some(std::span(rest)), 0U);
    }
    std::vector<gyre::task_handle<void>> users;
    for (auto& each : here) {
      users.push_back(gyre::spawn(send_bulk(each.server, 7)));
      users.push_back(gyre::spawn(expect_bulk(each.client, 7)));
    }
    for (auto& each : users) co_await each;
    for (auto& each : here) {
      const auto copied = co_await each.copying;
      EXPECT_EQ(copied.second_to_first, much);
    }
  });
}

TEST(bulk_relay, that_its_program_closes_in_the_middle_ends_with_an_error) {
  run_promoted([](two_relays& here) -> gyre::task<> {
    here[0].front.cancel();
    const std::string failure = co_await error_of(joined(here[0].copying));
    EXPECT_NE(failure.find("canceled"), std::string::npos) << failure;
  });
}

TEST(bulk_relay, that_runs_when_its_loop_ends_is_cancelled) {
  bool stalled = false;
  bool cancelled = false;
  const auto relay_for_ever = [&]() -> gyre::task<> {
    std::array<relayed<>, 3> all;
    auto senders = co_await stall(all, 1);
    stalled = true;
    try {
      co_await gyre::sleep(1h);
    } catch (const gyre::cancelled&) {
      cancelled = true;
    }
    for (auto& each : all) co_await gyre::shield(each.copying.wait());
    for (auto& each : senders) co_await gyre::shield(each.wait());
  };
  gyre::run_options options;
  options.loop.backend.large_buffer_size = 16 * 1024;
  const auto body = [&]() -> gyre::task<> {
    gyre::spawn(relay_for_ever()).detach();
    while (!stalled) co_await settle();
  };
  gyre::run(body, options);
  EXPECT_TRUE(cancelled);
}
