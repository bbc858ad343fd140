// tests/http/server_limits_test.cpp: limits of numbers and of durations.
#include <gyre/http/server_limits.hpp>
#include <gyre/http/shared_connection_count.hpp>

#include "tests/http/socket_server.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <span>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre_test;
using http::response;

TEST(server_limits, a_connection_too_many_is_told_503_and_closed) {
  if (over_tls()) GTEST_SKIP() << "over TLS, a connection too many is closed without an answer";
  http::server_options options = options_for(says("hello"));
  options.limits.connections = 2;
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    auto first = here.connect();
    auto second = here.connect();
    auto third = here.connect();
    const auto refused = co_await third.answer();
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.field("Connection"), "close");
    co_await third.expect_end();
    const auto served_one = co_await first.ask(hello_request);
    EXPECT_EQ(served_one.status, 200);
  });
}

TEST(server_limits, a_refused_client_takes_nobodys_place) {
  http::server_options options = options_for(says("hello"));
  options.limits.connections = 1;
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    auto first = here.connect();
    (void)co_await first.ask(hello_request);
    auto refused = here.connect();
    const auto refusal = co_await refused.answer();
    EXPECT_EQ(refusal.status, 503);
    co_await first.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    (void)co_await first.rest();  // closed, while the refused connection is still open
    const auto next = co_await here.get("/");
    EXPECT_EQ(next.status, 200);
  });
}

TEST(server_limits, connections_of_one_address_are_counted_by_themselves) {
  if (over_tls()) GTEST_SKIP() << "over TLS, a connection too many is closed without an answer";
  http::server_options options = options_for(says("hello"));
  options.limits.connections_per_address = 1;
  run_on_sockets(std::move(options), [](socket_server& here) -> gyre::task<> {
    const auto port = here.server().where().substr(here.server().where().find(':'));
    auto connect_from = [&](const char* host) -> gyre::task<tcp_client> {
      gyre::connect_options from;
      from.local = gyre::address::parse(std::string(host) + ":0").value();
      auto stream = co_await gyre::tcp_stream::connect(gyre::address::parse("127.0.0.1" + port).value(), from);
      co_return tcp_client(std::move(stream));
    };
    auto first = co_await connect_from("127.0.0.2");
    const auto answer = co_await first.ask(hello_request);
    EXPECT_EQ(answer.status, 200);
    auto second = co_await connect_from("127.0.0.2");
    const auto refused = co_await second.answer();
    EXPECT_EQ(refused.status, 503);
    auto other = co_await connect_from("127.0.0.3");
    const auto other_answer = co_await other.ask(hello_request);
    EXPECT_EQ(other_answer.status, 200);
    co_await first.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    (void)co_await first.rest();  // closed, while the refused connection is still open
    auto third = co_await connect_from("127.0.0.2");
    const auto third_answer = co_await third.ask(hello_request);
    EXPECT_EQ(third_answer.status, 200);
  });
}

TEST(server_limits, servers_that_are_counted_together_keep_one_limit) {
  http::shared_connection_count together;
  const auto one_connection = [&] {
    http::server_options options = options_for(says("hello"));
    options.limits.connections = 1;
    options.counted_with = &together;
    return options;
  };
  run_in_memory(one_connection(), [&](memory_server& here) -> gyre::task<> {
    auto first = here.connect();
    (void)co_await first.ask(hello_request);
    memory_server there(one_connection());
    auto refused = there.connect();
    const auto refusal = co_await refused.answer();
    EXPECT_EQ(refusal.status, 503);
    co_await first.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    (void)co_await first.rest();
    const auto answer = co_await there.get("/");
    EXPECT_EQ(answer.status, 200);
  });
}

TEST(server_limits, a_count_that_threads_share_never_passes_its_limit) {
  http::shared_connection_count counted;
  std::atomic<int> now = 0;
  std::atomic<bool> exceeded = false;
  const auto come_and_go = [&] {
    for (int i = 0; i < 20'000; ++i) {
      if (!counted.add(2)) continue;
      if (now.fetch_add(1) >= 2) exceeded = true;
      now.fetch_sub(1);
      counted.remove();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(come_and_go);
  }
  EXPECT_FALSE(exceeded);
  EXPECT_TRUE(counted.add(1)) << "somebody's place was not given back";
}

TEST(server_limits, the_last_request_of_a_connection_is_answered_with_close) {
  http::server_options options = options_for(says("hello"));
  options.limits.requests_per_connection = 3;
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    auto client = here.connect();
    co_await client.send(hello_request + hello_request + hello_request + hello_request);
    for (int i = 1; i <= 3; ++i) {
      const auto answer = co_await client.answer();
      EXPECT_EQ(answer.field("Connection"), i < 3 ? "keep-alive" : "close");
    }
    co_await client.expect_end();
    EXPECT_FALSE(client.was_reset());
  });
}

TEST(server_limits, an_idle_connection_is_closed_without_a_word) {
  http::server_options options = options_for(says("hello"));
  options.timeouts.idle = 10s;
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    auto client = here.connect();
    (void)co_await client.ask(hello_request);
    const auto begin = gyre::now();
    co_await client.expect_end();
    EXPECT_EQ(since(begin), 10s);
  });
}

TEST(server_limits, empty_lines_behind_a_request_leave_the_connection_idle) {
  http::server_options options = options_for(says("hello"));
  options.timeouts.idle = 100s;
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    for (const char* const piece : {"\r\n", "\r\n\r\n"}) {
      auto client = here.connect();
      (void)co_await client.ask(hello_request + piece);
      co_await gyre::sleep(60s);
      co_await client.send(piece);
      co_await gyre::sleep(60s);
      const auto next = co_await client.ask(hello_request);
      EXPECT_EQ(next.status, 200);
    }
  });
}

TEST(server_limits, empty_lines_do_not_keep_a_connection_open_for_ever) {
  http::server_options options = options_for(says("hello"));
  options.timeouts.idle = 10s;
  run_virtual([&]() -> gyre::task<> {
    memory_server server(std::move(options));
    auto client = server.connect();
    (void)co_await client.ask(hello_request);
    const auto begin = gyre::now();
    auto drip = [&]() -> gyre::task<> {
      for (;;) {
        co_await gyre::sleep(3s);
        co_await client.send("\r\n");
      }
    };
    auto dripping = gyre::spawn(drip);
    co_await client.expect_end();
    EXPECT_LE(since(begin), 20s);
    dripping.cancel();
    co_await dripping.wait();
  });
}

TEST(server_limits, a_head_that_begins_with_empty_lines_has_its_time) {
  http::server_options options = options_for(says("hello"));
  options.timeouts.head = 3s;
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    auto client = here.connect();
    (void)co_await client.ask(hello_request + "\r\n\r");
    const auto half_a_line = co_await client.answer();
    EXPECT_EQ(half_a_line.status, 408);
  });
}

TEST(server_limits, a_client_that_sends_behind_the_last_answer_is_read_for_at_most_half_a_minute) {
  for (const auto sends_for : {10s, 1000s}) {
    run_virtual([&]() -> gyre::task<> {
      memory_server server(options_for(says("enough")));
      auto client = server.connect();
      co_await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n");
      const auto begin = gyre::now();
      const auto answer = co_await client.answer();
      EXPECT_EQ(answer.field("Connection"), "close");
      while (since(begin) < sends_for && server.server().connections() > 0) {
        co_await client.send("some of it");
        co_await gyre::sleep(1s);
      }
      EXPECT_EQ(server.server().connections() > 0, sends_for == 10s);
      EXPECT_LE(since(begin), 32s);
      co_await gyre::sleep(3s);
      EXPECT_EQ(server.server().connections(), 0U);
    });
  }
}

TEST(server_limits, a_connection_that_never_says_anything_is_closed_without_a_word) {
  http::server_options options = options_for(says("hello"));
  options.timeouts.head = 3s;
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    auto client = here.connect();
    const auto begin = gyre::now();
    co_await client.expect_end();
    EXPECT_EQ(since(begin), 3s);
  });
}

TEST(server_limits, a_head_that_takes_too_long_is_answered_with_408_however_steadily_it_comes) {
  http::server_options options = options_for(says("hello"));
  options.timeouts.head = 3s;
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    auto client = here.connect();
    co_await client.send(hello_request);  // the limit counts from the first byte of each head
    (void)co_await client.answer();
    co_await gyre::sleep(20s);
    const auto begin = gyre::now();
    auto drip = [&]() -> gyre::task<> {
      co_await client.send("GET / HTTP/1.1\r\nX: ");
      for (;;) {
        co_await client.send("x");
        co_await gyre::sleep(500ms);
      }
    };
    auto dripping = gyre::spawn(drip);
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.status, 408);
    EXPECT_GE(since(begin), 3s);
    EXPECT_LT(since(begin), 4s);
    dripping.cancel();
    co_await dripping.wait();
  });
}

TEST(server_limits, a_client_that_does_not_take_its_answer_is_reset) {
  const std::string large(30'000'000, 'l');
  http::server_options options = options_for([&](http::request&) { return response::borrowed(large, "a/b"); });
  options.timeouts.write = 200ms;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    client.stream().set_receive_buffer_size(10'000);
    co_await client.send(hello_request);
    (void)co_await client.receive();
    for (int i = 0; i < 2000 && here.server().connections() > 0; ++i) co_await gyre::sleep(10ms);
    EXPECT_EQ(here.server().connections(), 0U);
    const auto rest = co_await client.rest();
    EXPECT_LT(rest.size(), large.size());
    EXPECT_TRUE(client.was_reset());
  });
}

TEST(server_limits, a_client_that_takes_its_answer_slowly_is_not_reset) {
  const std::string large(2'000'000, 'l');
  http::server_options options = options_for([&](http::request&) { return response::borrowed(large, "a/b"); });
  options.timeouts.write = 5s;
  run_virtual([&]() -> gyre::task<> {
    memory_server server(std::move(options));
    auto client = server.connect(16'384);
    co_await client.send(hello_request);
    const auto begin = gyre::now();
    bool more = true;
    while (more && client.received().size() < large.size()) {
      co_await gyre::sleep(1s);  // 16 KiB per second
      more = co_await client.receive();
    }
    EXPECT_TRUE(more);
    EXPECT_GT(since(begin), 100s);
  });
}

// A Unix socket does not tell what the client has taken, only what the kernel has.
TEST(server_limits, a_client_on_a_unix_socket_that_takes_its_answer_slowly_is_not_reset) {
  const std::string large(4'000'000, 'l');
  http::server_options options = options_for([&](http::request&) { return response::borrowed(large, "a/b"); });
  const std::string name = "@gyre-server-limits-" + std::to_string(::getpid());
  options.listen = "unix:" + name;
  options.timeouts.write = 14s;
  run_virtual([&]() -> gyre::task<> {
    socket_server here(std::move(options));
    auto stream = co_await gyre::unix_stream::connect(gyre::unix_address(name));
    http_client<gyre::unix_stream> client(std::move(stream));
    co_await client.send(hello_request);
    bool more = true;
    while (more && client.received().size() < large.size()) {
      co_await gyre::sleep(1s);  // 16 KiB per second
      more = co_await client.receive();
    }
    EXPECT_TRUE(more);
    here.tell_to_stop();
    co_await here.stopped();
  });
}

// The sender's kernel has accepted megabytes more than the client has read.
TEST(server_limits, a_client_that_takes_a_file_slowly_is_not_reset_and_one_that_stops_is) {
  constexpr std::uint64_t size = 30'000'000;
  http::server_options options = options_for([](http::request&) {
    gyre::owned_fd file(::memfd_create("large", MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(file.get(), size), 0);
    return response::file(std::move(file), 0, size, "a/b");
  });
  options.timeouts.write = 700ms;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    client.stream().set_receive_buffer_size(100'000);
    co_await client.send(hello_request);
    std::vector<char> taken(32'000);
    const int size_of_taken = static_cast<int>(taken.size());
    pollfd enough{.fd = client.stream().native_descriptor(), .events = POLLIN, .revents = 0};
    ::setsockopt(enough.fd, SOL_SOCKET, SO_RCVLOWAT, &size_of_taken, sizeof(size_of_taken));
    const auto begin = gyre::now();
    while (since(begin) < 2100ms) {
      co_await gyre::sleep(50ms);
      // The server may have to send more for that: its kernel holds less when memory for sockets is short.
      while (::poll(&enough, 1, 0) == 0 && since(begin) < 20s) co_await gyre::sleep(5ms);
      co_await client.stream().read_exactly(std::span<char>(taken));
    }
    EXPECT_EQ(here.server().connections(), 1U);
    for (int i = 0; i < 1000 && here.server().connections() > 0; ++i) co_await gyre::sleep(10ms);
    EXPECT_EQ(here.server().connections(), 0U);
  });
}

TEST(server_limits, pieces_of_a_stream_that_were_given_up_are_not_the_beginning_of_others) {
  auto produce = [](http::body_writer& out) -> gyre::task<> {
    const std::string piece(8'000, 'p');
    auto write = [&]() -> gyre::task<> { co_await out.write(piece); };
    bool blocked = false;
    for (int i = 0; i < 100'000 && !blocked; ++i) {
      try {
        co_await gyre::timeout(100ms, write);
        co_await gyre::yield();  // so that it is sent piece by piece, and the last piece not at all
      } catch (const gyre::timed_out&) {
        blocked = true;
      }
    }
    EXPECT_TRUE(blocked);
    co_await gyre::sleep(200ms);
    co_await out.write("another piece");
    ADD_FAILURE() << "that was taken as a part of the piece before";
  };
  run_on_sockets(options_for([&](http::request&) { return response::stream(produce); }),
                 [](socket_server& here) -> gyre::task<> {
                   auto client = co_await here.connect();
                   co_await client.send(hello_request);
                   while (here.server().connections() == 0) co_await gyre::sleep(1ms);
                   while (here.server().connections() > 0) co_await gyre::sleep(10ms);
                   const auto rest = co_await client.rest();
                   EXPECT_EQ(rest.find("another"), std::string::npos);
                   EXPECT_TRUE(client.was_reset());
                 });
}
