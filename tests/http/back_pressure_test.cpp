// tests/http/back_pressure_test.cpp: how much a server produces for a client that does not read.
#include <gyre/http/body_writer.hpp>

#include "tests/http/little_room.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

/// Makes the kernel keep little for the connections that the server accepts from now on.
void limit_send_buffers(socket_server& here, int size) {
  const std::string where = here.server().where();
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    sockaddr_in local{};
    socklen_t length = sizeof(local);
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &length) != 0 || local.sin_family != AF_INET) continue;
    if (where.ends_with(":" + std::to_string(ntohs(local.sin_port))))
      ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
  }
}

}  // namespace

TEST(back_pressure, appending_without_awaiting_fails_once_64_KiB_wait_and_works_again_after_a_flush) {
  const std::string kibibyte(1024, 'x');
  for (const bool in_memory : {false, true}) {
    std::size_t appended = 0;
    std::error_code failure;
    auto produce = [&](http::body_writer& out) -> gyre::task<> {
      co_await out.write("the beginning");
      try {
        for (; appended < 100'000; ++appended) {
          out.append(kibibyte);
          if (appended % 100 == 0) co_await gyre::yield();
        }
      } catch (const gyre::io_error& error) {
        failure = error.code();
      }
      EXPECT_EQ(out.written(), 13 + (appended * 1024));
      EXPECT_LT(out.waiting(), http::body_writer::max_waiting + 2 * kibibyte.size());
      co_await out.flush();
      EXPECT_EQ(out.waiting(), 0U);
      out.append("the end");
    };
    auto routes = [&](http::request&) { return response::stream(produce); };
    auto expect_all = [&](auto&, auto& client) -> gyre::task<> {
      co_await client.send(hello_request);
      while (!failure && appended < 100'000) co_await gyre::sleep(1ms);
      EXPECT_TRUE(failure == std::errc::no_buffer_space);
      EXPECT_LT(appended, in_memory ? 100U : 16'000U);
      const http_answer answer = co_await client.answer();
      EXPECT_EQ(answer.body.size(), 13 + (appended * 1024) + 7);
      EXPECT_TRUE(answer.body.ends_with("xthe end"));
    };
    run_with_client(in_memory, options_for(routes), expect_all, 1000);
  }
}

TEST(back_pressure, appending_more_than_64_KiB_at_once_reaches_a_client_that_has_room) {
  auto produce = [](http::body_writer& out) -> gyre::task<> {
    for (int i = 0; i < 200; ++i) out.append(std::string(1024, 'x'));
    co_return;
  };
  run_on_sockets(options_for([&](http::request&) { return response::stream(produce); }),
                 [](socket_server& here) -> gyre::task<> {
                   const http_answer answer = co_await here.get("/");
                   EXPECT_EQ(answer.body.size(), 200U * 1024);
                 });
}

// The rest of a piece leaves when the client takes it, although the handler writes no further one.
TEST(back_pressure, a_piece_that_had_to_wait_for_the_client_arrives_without_another_one) {
  constexpr std::size_t kibibyte = 1024;
  for (const bool in_memory : {false, true}) {
    for (const bool appends : {false, true}) {
      std::size_t written = 0;
      gyre::event go_on;
      auto produce = [&](http::body_writer& out) -> gyre::task<> {
        do {
          const std::string text((in_memory ? 1 : 15) * kibibyte, 'x');
          written += text.size();
          if (appends)
            out.append(text);
          else
            co_await out.write(text);
          co_await gyre::sleep(1ms);
        } while (out.waiting() == 0 && written < (in_memory ? 4 : 16'000) * kibibyte);
        co_await go_on.wait();
      };
      auto expect_all = [&](auto&, auto& client) -> gyre::task<> {
        if constexpr (std::same_as<std::remove_cvref_t<decltype(client)>, tcp_client>) leave_little_room(client);
        co_await client.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
        co_await until_it_stops(written);
        std::size_t size = 0;
        auto receive_all = [&]() -> gyre::task<> {
          while (size < written) {
            (void)co_await client.receive();
            size = client.received().size() - (client.received().find("\r\n\r\n") + 4);
          }
        };
        EXPECT_TRUE(co_await gyre::as_expected(gyre::timeout(5s, receive_all))) << appends << in_memory;
        EXPECT_EQ(size, written);
        go_on.set();
        (void)co_await client.rest();
      };
      const auto routes = [&](http::request&) { return response::stream(produce); };
      run_with_client(in_memory, options_for(routes), expect_all, 1000);
    }
  }
}

// The socket takes a part of the gathered answers at once. Nothing is sent for the request that runs, so nothing else
// would make the rest leave.
TEST(back_pressure, earlier_answers_leave_while_the_handler_of_the_next_request_runs) {
  for (const bool streams : {false, true}) {
    gyre::event go_on;
    http::router routes;
    routes.get("/", says(std::string(10'000, 'x')));
    routes.get("/slow", [&](http::request&) -> gyre::task<response> {
      if (!streams) co_await go_on.wait();
      auto produce = [&](http::body_writer& out) -> gyre::task<> {
        co_await go_on.wait();
        co_await out.write("the end");
      };
      co_return response::stream(produce);
    });
    run_on_sockets(options_for(std::move(routes)), [&](socket_server& here) -> gyre::task<> {
      limit_send_buffers(here, 4096);
      for (int earlier = 10; earlier < 20; ++earlier) {
        auto client = co_await here.connect();
        std::string requests;
        for (int i = 0; i < earlier; ++i) requests += hello_request;
        co_await client.send(requests + "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
        auto receive_all = [&]() -> gyre::task<> {
          for (int i = 0; i < earlier; ++i) {
            const http_answer answer = co_await client.answer();
            EXPECT_EQ(answer.body.size(), 10'000U);
          }
        };
        const auto all = co_await gyre::as_expected(gyre::timeout(5s, receive_all));
        EXPECT_TRUE(all) << earlier << streams;
        go_on.set();
        if (!all) co_return;
        const http_answer last = co_await client.answer();
        EXPECT_EQ(last.body, "the end");
        go_on.clear();
      }
    });
  }
}

TEST(back_pressure, pipelined_answers_without_a_body_wait_for_the_client) {
  for (const std::string_view method : {"HEAD", "GET"}) {
    for (const bool observed : {false, true}) {
      int answered = 0;
      exchange_log heard;
      http::server_options options = options_for([&](http::request&) {
        ++answered;
        return response(204).add_field("A", std::string(60'000, 'a'));
      });
      if (observed) options.observer = &heard;
      run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
        auto client = co_await connect_with_little_room(here);
        std::string requests;
        for (int i = 0; i < 400; ++i) requests += std::string(method) + " / HTTP/1.1\r\nHost: a\r\n\r\n";
        co_await client.send(requests);
        co_await until_it_stops(answered);
        EXPECT_LT(answered, 60) << method << observed;  // 3.6 MB; the kernel holds much of that
        std::size_t received = 0;
        while (received < 400 * std::size_t{60'000}) {
          std::array<std::byte, 65'536> buffer;
          received += co_await client.stream().read_some(buffer);
        }
        EXPECT_EQ(answered, 400);
      });
    }
  }
}

TEST(back_pressure, a_writer_that_goes_on_after_a_failure_fills_no_buffer) {
  std::size_t waiting = 0;
  int failures = 0;
  auto produce = [&](http::body_writer& out) -> gyre::task<> {
    const std::string some(1000, 's');
    for (int i = 0; i < 10'000; ++i) {
      try {
        co_await out.write(some);
      } catch (const gyre::io_error&) {
        ++failures;
      }
      waiting = std::max(waiting, out.waiting());
    }
  };
  http::server_options options = options_for([&](http::request&) { return response::stream(produce); });
  options.timeouts.write = 1s;
  run_virtual([&]() -> gyre::task<> {
    reports none;
    memory_server server(std::move(options));
    auto client = server.connect(1000);
    co_await client.send(hello_request);
    co_await gyre::sleep(20s);
    EXPECT_GT(failures, 9000);
    EXPECT_LT(waiting, 40'000U);
    const std::string bytes = co_await client.rest();
    EXPECT_LT(bytes.size(), 20'000U);
  });
}
