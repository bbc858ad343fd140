// tests/net/bulk_relay_test.cpp: relays that move bulk through the pipes of their loop.
#include "tests/net/bulk_relay.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/denied_call.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

using namespace gyre_test;

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
