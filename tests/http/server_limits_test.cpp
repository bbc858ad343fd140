// tests/http/server_limits_test.cpp: how long clients may take, and how much they may send.
#include <gyre/http/server_limits.hpp>

#include "tests/http/socket_server.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <span>
#include <utility>
#include <vector>

using namespace gyre_test;
using http::response;

TEST(server_limits, the_last_request_of_a_connection_is_answered_with_close) {
  http::server_options options = options_for(says("hello"));
  options.limits.requests_per_connection = 3;
  run_client(std::move(options), [](memory_client& client) -> gyre::task<> {
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
  run_client(std::move(options), [](memory_client& client) -> gyre::task<> {
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
  run_client(std::move(options), [&](memory_client& client) -> gyre::task<> {
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
  run_client(std::move(options), [](memory_client& client) -> gyre::task<> {
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
  run_client(std::move(options), [](memory_client& client) -> gyre::task<> {
    const auto begin = gyre::now();
    co_await client.expect_end();
    EXPECT_EQ(since(begin), 3s);
  });
}

TEST(server_limits, a_head_that_takes_too_long_is_answered_with_408_however_steadily_it_comes) {
  http::server_options options = options_for(says("hello"));
  options.timeouts.head = 3s;
  run_client(std::move(options), [](memory_client& client) -> gyre::task<> {
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
