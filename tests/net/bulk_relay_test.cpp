// tests/net/bulk_relay_test.cpp: relays that move bulk through the pipes of their loop.
#include <gyre/gyre.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/net/small_segments.hpp"
#include "tests/net/stream_flow.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/denied_call.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

constexpr std::size_t much = 3'000'000;

gyre::io::pipe_pool& pipes() { return gyre::event_loop::current().backend().pipes(); }

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

gyre::task<> cancel_all(std::span<gyre::task_handle<void>> tasks) {
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
void run_promoted(body_ref<two_relays&> body) {
  run_bulk([&]() -> gyre::task<> {
    two_relays here;
    co_await promote(here);
    co_await body(here);
    co_await cancel_copying(here);
  });
}

}  // namespace

TEST(bulk_relay, several_at_once_use_pipes_and_pass_on_each_byte) {
  const auto relay_several = []<class Stream>() {
    run_bulk([]() -> gyre::task<> {
      std::array<relayed<Stream>, 4> all;
      for (auto& each : all) co_await each.start();
      co_await pass_through(all);
      EXPECT_GT(pipes().lent(), 0U);
    });
  };
  relay_several.operator()<gyre::tcp_stream>();
  relay_several.operator()<gyre::unix_stream>();
}

TEST(bulk_relay, more_than_there_are_pipes_pass_on_each_byte) {
  run_bulk([]() -> gyre::task<> {
    std::array<relayed<>, 24> all;
    for (auto& each : all) co_await each.start();
    co_await pass_through(all, false);
    EXPECT_GT(pipes().lent(), 0U);
  });
}

TEST(bulk_relay, a_stream_that_alone_moves_bulk_uses_no_pipe) {
  run_bulk([]() -> gyre::task<> {
    std::array<relayed<>, 1> one;
    co_await one[0].start();
    co_await pass_through(one, false);
    EXPECT_EQ(pipes().lent(), 0U);
  });
}

TEST(bulk_relay, readers_that_stall_hold_no_more_than_the_pipes_and_others_go_on) {
  run_bulk([]() -> gyre::task<> {
    std::array<relayed<>, 20> stalled;
    auto users = co_await stall(stalled, gyre::io::pipe_pool::max_pipes);

    std::array<relayed<>, 2> others;
    for (auto& each : others) co_await each.start();
    co_await gyre::timeout(20s, pass_through(others));

    for (auto& each : stalled) users.push_back(gyre::spawn(expect_bulk(each.server, 2)));
    for (auto& each : users) co_await each;
    for (auto& each : stalled) {
      co_await each.server.shutdown_write();
      co_await each.copying;
    }
  });
}

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

TEST(bulk_relay, goes_back_to_common_buffers_when_its_messages_become_small) {
  run_promoted([](two_relays& here) -> gyre::task<> {
    for (auto& each : here) {
      for (unsigned n = 0; n < 50; ++n) {
        co_await send_bulk(each.client, n, 10, false);
        co_await expect_bulk(each.server, n, 10, false);
      }
    }
    EXPECT_FALSE(pipes().worth_it());
    const std::uint64_t before = pipes().lent();
    for (unsigned n = 0; n < 50; ++n) {
      co_await send_bulk(here[0].client, n, 10, false);
      co_await expect_bulk(here[0].server, n, 10, false);
    }
    EXPECT_EQ(pipes().lent(), before);
  });
}

TEST(bulk_relay, a_stream_no_longer_counts_as_bulk_when_its_messages_have_become_small) {
  run_bulk([]() -> gyre::task<> {
    two_relays here;
    for (auto& each : here) {
      co_await each.start();
      auto sending = gyre::spawn(send_bulk(each.client, 1, much, false));
      co_await expect_bulk(each.server, 1, much, false);
      co_await sending;
      for (unsigned n = 0; n < 50; ++n) {
        co_await send_bulk(each.client, n, 10, false);
        co_await expect_bulk(each.server, n, 10, false);
      }
    }
    EXPECT_EQ(pipes().lent(), 0U) << "each was the only one";
    co_await cancel_copying(here);
  });
}

TEST(bulk_relay, goes_on_after_urgent_data) {
  run_promoted([](two_relays& here) -> gyre::task<> {
    relayed<>& one = here[0];
    for (int n = 0; n < 3; ++n) {
      EXPECT_EQ(::send(one.client.native_descriptor(), "!", 1, MSG_OOB | MSG_NOSIGNAL), 1);
      co_await send_bulk(one.client, 3, 400'000, false);
      const std::string failure = co_await error_of(expect_bulk(one.server, 3, 400'000, false));
      EXPECT_EQ(failure, "");
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

TEST(bulk_relay, copies_while_the_process_can_open_no_pipe) {
  run_bulk([]() -> gyre::task<> {
    std::array<relayed<>, 3> all;
    for (auto& each : all) co_await each.start();
    rlimit before{};
    CO_ASSERT_TRUE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit now = before;
    now.rlim_cur = 3;  // open descriptors stay open
    CO_ASSERT_TRUE(::setrlimit(RLIMIT_NOFILE, &now) == 0);
    co_await pass_through(all);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(pipes().lent(), 0U);
  });
}

TEST(bulk_relay, copies_where_a_filter_denies_what_pipes_need) {
  if (!forked_children_may_start_threads) GTEST_SKIP();
  for (const int error : {EPERM, ENOSYS, EINVAL}) {
    for (const long call : {SYS_splice, SYS_pipe2, SYS_fcntl}) {
      const child_outcome outcome = in_child_process([&]() -> std::string {
        run_bulk([&]() -> gyre::task<> {
          std::array<relayed<>, 3> all;
          for (auto& each : all) co_await each.start();
          deny_call(call, error);
          co_await pass_through(all);
        });
        return testing::Test::HasFailure() ? "failed" : "good";
      });
      EXPECT_TRUE(outcome.ended) << call << ", signal " << outcome.signal;
      EXPECT_EQ(outcome.text, "good") << call << " " << error;
    }
  }
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
