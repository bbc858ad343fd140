// tests/net/unix_datagram_test.cpp: datagrams between processes on one machine.
#include <gyre/net/unix_datagram.hpp>

#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/net/receive_text.hpp"

#include <unistd.h>

#include <array>
#include <optional>
#include <vector>

using namespace gyre_test;
using gyre::unix_address;
using gyre::unix_datagram;

namespace {

unix_address name(const std::string& word) { return unix_address("@gyre-dgram-" + word + std::to_string(::getpid())); }

/// While other tasks are ready, a ring gets operations without a previous attempt.
gyre::task<> be_ready_always() {
  for (;;) co_await gyre::yield();
}

/// Sends until there is no more room. Returns the number of datagrams.
gyre::task<int> fill_queue(unix_datagram& from, const unix_address& to) {
  for (int count = 0;; ++count) {
    const auto sent = co_await gyre::as_expected(gyre::timeout(5ms, from.send_to("x", to)));
    if (!sent) co_return count;
  }
}

gyre::task<> send_last(unix_datagram& from, unix_address to) { co_await from.send_to("last", to); }

/// Makes room in a full `server` by reading `count` datagrams. The waiting datagram then arrives.
gyre::task<> last_arrives(unix_datagram& server, int count, gyre::task_handle<void>& waiting) {
  EXPECT_FALSE(waiting.done());
  for (int i = 0; i < count; ++i) (void)co_await receive_text(server);
  co_await waiting;
  co_await expect_text(server, "last");
}

}  // namespace

TEST(unix_datagram, a_datagram_arrives_with_the_name_of_its_sender) {
  run_test([]() -> gyre::task<> {
    unix_datagram a = unix_datagram::bind(name("a"));
    unix_datagram b = unix_datagram::bind(name("b"));
    co_await a.send_to("hello", b.local_address());
    const auto datagram = co_await b.receive();
    EXPECT_EQ(datagram.payload.text(), "hello");
    EXPECT_EQ(datagram.from, a.local_address());
  });
}

TEST(unix_datagram, a_pair_talks_without_names) {
  run_test([]() -> gyre::task<> {
    auto pair = unix_datagram::pair();
    co_await pair.first.send("one");
    co_await pair.first.send("");
    co_await pair.first.send("three");
    for (const char* each : {"one", "", "three"}) {
      co_await expect_text(pair.second, each);
    }
  });
}

TEST(unix_datagram, its_file_is_removed_with_it) {
  run_test([]() -> gyre::task<> {
    const std::string path = "/tmp/gyre-dgram-" + std::to_string(::getpid());
    {
      unix_datagram server = unix_datagram::bind(unix_address(path));
      unix_datagram client = unix_datagram::connected(unix_address(path));
      co_await client.send("by path");
      std::array<std::byte, 64> buffer;
      const auto datagram = co_await server.receive_from(buffer);
      EXPECT_EQ(datagram.size, 7U);
      EXPECT_TRUE(datagram.from.is_unnamed());
    }
    EXPECT_NE(::access(path.c_str(), F_OK), 0);
  });
}

TEST(unix_datagram, nobody_there_is_an_error_that_names_the_address) {
  run_test([]() -> gyre::task<> {
    auto pair = unix_datagram::pair();
    const unix_address nobody("/tmp/gyre/no/such");
    const std::string text = co_await error_of(pair.first.send_to("x", nobody));
    EXPECT_NE(text.find("send_to /tmp/gyre/no/such"), std::string::npos) << text;
  });
}

TEST(unix_datagram, a_send_waits_while_a_stranger_has_no_room) {
  for (const bool of_a_pair : {false, true})
    run_test([of_a_pair]() -> gyre::task<> {
      unix_datagram server = unix_datagram::bind(name("full"));
      unix_datagram filler = unix_datagram::bind(name("filler"));
      unix_datagram client = unix_datagram::bind(name("client"));
      auto pair = unix_datagram::pair();
      const int count = co_await fill_queue(filler, server.local_address());
      EXPECT_GT(count, 0);
      gyre::task_handle<void> others;
      if (of_a_pair) others = gyre::spawn(be_ready_always());
      auto waiting = gyre::spawn(send_last(of_a_pair ? pair.first : client, server.local_address()));
      co_await settle();
      co_await last_arrives(server, count, waiting);
      if (of_a_pair) others.cancel();
      if (of_a_pair) co_await others.wait();
    });
}

TEST(unix_datagram, a_send_waits_while_the_peer_has_no_room_and_arrives_whole) {
  const auto send_all = [](unix_datagram& from) -> gyre::task<> {
    for (int i = 0; i < 1000; ++i) {
      const std::string text = std::to_string(i);
      co_await from.send(text);
    }
  };
  for (const bool named : {false, true})
    run_test([&, named]() -> gyre::task<> {
      auto pair = unix_datagram::pair();
      if (named) {
        pair.second = unix_datagram::bind(name("slow"));
        pair.first = unix_datagram::connected(pair.second.local_address());
      }
      gyre::task_handle<void> others;
      if (named) others = gyre::spawn(be_ready_always());
      auto sending = gyre::spawn(send_all(pair.first));
      co_await settle();
      EXPECT_FALSE(sending.done());
      for (int i = 0; i < 1000; ++i) co_await expect_text(pair.second, std::to_string(i));
      co_await sending;
      if (named) others.cancel();
      if (named) co_await others.wait();
    });
}

TEST(unix_datagram, a_send_that_is_cancelled_while_its_peer_has_no_room_has_sent_nothing) {
  run_test([]() -> gyre::task<> {
    unix_datagram server = unix_datagram::bind(name("slower"));
    unix_datagram client = unix_datagram::connected(server.local_address());
    int count = 0;
    while (co_await gyre::as_expected(gyre::timeout(5ms, client.send("x")))) ++count;
    EXPECT_GT(count, 0);
    for (int i = 0; i < count; ++i) {
      co_await expect_text(server, "x");
    }
    co_await client.send("next");
    co_await expect_text(server, "next");
  });
}

TEST(unix_datagram, a_send_that_waits_for_room_fails_when_its_peer_leaves) {
  run_test([]() -> gyre::task<> {
    std::optional<unix_datagram> server = unix_datagram::bind(name("leaving"));
    unix_datagram client = unix_datagram::connected(server->local_address());
    while (co_await gyre::as_expected(gyre::timeout(5ms, client.send("x")))) {
    }
    auto waiting = gyre::spawn(error_of(client.send("y")));
    co_await settle();
    EXPECT_FALSE(waiting.done());
    server.reset();
    const std::string text = co_await waiting;
    EXPECT_EQ(text, "send: Connection refused");
  });
}

TEST(unix_datagram, sends_that_wait_go_in_their_order_and_those_that_are_cancelled_do_not_go) {
  run_test([]() -> gyre::task<> {
    unix_datagram server = unix_datagram::bind(name("queue"));
    unix_datagram client = unix_datagram::bind(name("queuing"));
    const int count = co_await fill_queue(client, server.local_address());
    const auto send = [](unix_datagram& from, unix_address to, std::string text) -> gyre::task<> {
      co_await from.send_to(text, to);
    };
    std::vector<gyre::task_handle<void>> senders;
    for (const char* each : {"first", "second", "third", "fourth"})
      senders.push_back(gyre::spawn(send(client, server.local_address(), each)));
    co_await settle();
    for (const std::size_t each : {0U, 1U, 3U}) {
      senders[each].cancel();
      co_await senders[each].wait();
      EXPECT_TRUE(senders[each].state().was_cancelled()) << each;
    }
    for (int i = 0; i < count; ++i) (void)co_await receive_text(server);
    co_await senders[2];
    co_await expect_text(server, "third");
    co_await client.send_to("fifth", server.local_address());
    co_await expect_text(server, "fifth");
  });
}

TEST(unix_datagram, cancel_ends_all_that_wait_to_send_and_to_receive) {
  run_test([]() -> gyre::task<> {
    unix_datagram server = unix_datagram::bind(name("stuck"));
    unix_datagram client = unix_datagram::bind(name("sticking"));
    (void)co_await fill_queue(client, server.local_address());
    std::vector<gyre::task_handle<std::string>> all;
    for (int i = 0; i < 3; ++i) all.push_back(gyre::spawn(error_of(client.send_to("x", server.local_address()))));
    all.push_back(gyre::spawn(error_of(client.receive())));
    co_await settle();
    client.cancel();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string text = co_await all[i];
      EXPECT_EQ(text, i < 3 ? "send_to " + server.local_address().string() + ": Operation canceled"
                            : "receive: Operation canceled");
    }
  });
}

TEST(unix_datagram, a_function_that_is_posted_before_a_send_is_tried_again_sees_no_values_of_the_sender) {
  gyre::task_local<int> mine;  // outlives the loop, as the functions do
  int calls = 0;
  int seen = 0;
  run_test([&]() -> gyre::task<> {
    unix_datagram server = unix_datagram::bind(name("full"));
    unix_datagram client = unix_datagram::bind(name("filling"));
    const auto send = [&]() -> gyre::task<> {
      const auto bound = mine.bind(1);
      for (int i = 0; i < 500; ++i) co_await client.send_to("x", server.local_address());
    };
    auto sender = gyre::spawn(send);
    while (!sender.done()) {
      co_await gyre::sleep(1ms);
      (void)co_await receive_text(server);
      const auto call = [&] {
        ++calls;
        if (mine.get() != nullptr) ++seen;
      };
      gyre::event_loop::current().post(call);
      const auto since = gyre::now();
      while (gyre::now() - since < 2ms) {  // until it is time to try again
      }
      co_await gyre::yield();
    }
  });
  EXPECT_GT(calls, 10);
  EXPECT_EQ(seen, 0);
}

TEST(unix_datagram, a_cancel_anywhere_leaves_nothing_behind) {
  const auto report = gyre::testing::cancel_at_every_await(
      []() -> gyre::task<> {
        auto pair = unix_datagram::pair();
        const auto receive = [](unix_datagram& socket) -> gyre::task<> {
          co_await expect_text(socket, "a");
          const auto second = co_await socket.receive();
          EXPECT_EQ(second.payload.text(), "b");
        };
        const auto send = [](unix_datagram& socket) -> gyre::task<> {
          co_await gyre::yield();
          co_await socket.send("a");
          co_await gyre::yield();
          co_await socket.send("b");
        };
        co_await gyre::gather(receive(pair.first), send(pair.second));
      },
      [](bool) {});
  EXPECT_GT(report.cancelled, 0U);
  EXPECT_GT(report.completed, 0U);
}
