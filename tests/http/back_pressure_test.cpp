// tests/http/back_pressure_test.cpp: how much a server produces for a client that does not read.
#include <gyre/http/body_writer.hpp>
#include <gyre/http/compress.hpp>

#include "decoding.hpp"
#include "tests/http/memory_file.hpp"
#include "tests/http/socket_server.hpp"
#include "tests/support/mebibyte.hpp"

#include <arpa/inet.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

constexpr std::size_t piece_size = std::size_t{16} << 10U;

/// Text that every coding halves, and none compresses better.
const std::string& hexadecimal() {
  static const std::string all = [] {
    std::mt19937_64 random(1);
    std::string text(8 * mebibyte, '\0');
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < text.size(); ++i, bits >>= 4U) {
      if (i % 16 == 0) bits = random();
      text[i] = "0123456789abcdef"[bits % 16];
    }
    return text;
  }();
  return all;
}

gyre::fs::file zeros(std::size_t size) { return gyre::fs::file::from_fd(memory_file({}, size), "body"); }

std::string get_coded(std::string_view coding) {
  return "GET / HTTP/1.0\r\nHost: a\r\nAccept-Encoding: " + std::string(coding) + "\r\n\r\n";
}

/// Streams `body`, compressed for clients that accept it.
template <class Body>
http::handler compressed(Body body) {
  http::router routes;
  routes.use(http::compress());
  routes.get("/", [body](http::request&) { return response::stream(body, "text/plain"); });
  return routes;
}

/// Writes everything in pieces, and awaits something else between them.
struct writer {
  std::size_t written = 0;
  gyre::task<> operator()(http::body_writer& out) {
    for (std::size_t at = 0; at < hexadecimal().size(); at += piece_size) {
      co_await out.write(std::string_view(hexadecimal()).substr(at, piece_size));
      written += piece_size;
      co_await gyre::yield_turn();
    }
  }
};

void leave_little_room(tcp_client& client) {
  const int room = 65'536;
  ::setsockopt(client.stream().native_descriptor(), SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
}
gyre::task<tcp_client> connect_with_little_room(socket_server& here) {
  auto client = co_await here.connect();
  leave_little_room(client);
  co_return client;
}

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

/// Waits until `count` has begun to grow and then stays the same.
template <class Count>
gyre::task<> until_it_stops(const Count& count) {
  for (Count before = 0; count == 0 || count != before;) {
    before = count;
    co_await gyre::sleep(100ms);
  }
}

template <class Client>
gyre::task<> expect_bounded(Client& client, const std::size_t& written, std::string_view coding, std::size_t most) {
  co_await client.send(get_coded(coding));
  co_await until_it_stops(written);
  EXPECT_GT(written, 0U) << coding;
  EXPECT_LT(written, most) << coding;
  const http_answer answer = co_await client.answer();
  EXPECT_TRUE(decode(coding, answer.body).text == hexadecimal()) << coding;
  EXPECT_EQ(written, hexadecimal().size()) << coding;
}

}  // namespace

TEST(back_pressure, a_compressed_stream_waits_for_a_client_that_does_not_read) {
  for (const std::string_view coding : http::available_codings()) {
    writer producer;
    auto produce = [&](http::body_writer& out) -> gyre::task<> { co_await producer(out); };
    run_on_sockets(options_for(compressed(produce)), [&](socket_server& here) -> gyre::task<> {
      auto client = co_await connect_with_little_room(here);
      co_await expect_bounded(client, producer.written, coding, 6 * mebibyte);  // the kernel holds much of that
    });
  }
}

TEST(back_pressure, others_run_while_a_stream_is_compressed_to_nearly_nothing) {
  for (const std::string_view coding : http::available_codings()) {
    std::size_t turns = 0;
    auto produce = [](http::body_writer& out) -> gyre::task<> {
      const std::string same(piece_size, 'x');
      for (int i = 0; i < 256; ++i) co_await out.write(same);
    };
    run_in_memory(options_for(compressed(produce)), [&](memory_server& here) -> gyre::task<> {
      auto client = here.connect(mebibyte);
      auto other = gyre::spawn([&]() -> gyre::task<> {
        for (;; ++turns) co_await gyre::yield();
      });
      const http_answer answer = co_await client.ask(get_coded(coding));
      EXPECT_EQ(decode(coding, answer.body).text.size(), 256 * piece_size) << coding;
      other.cancel();
      co_await other.wait();
    });
    EXPECT_GE(turns, 64U) << coding;
  }
}

TEST(back_pressure, a_compressed_stream_waits_for_a_client_that_does_not_read_from_memory) {
  for (const std::string_view coding : http::available_codings()) {
    writer producer;
    auto produce = [&](http::body_writer& out) -> gyre::task<> { co_await producer(out); };
    run_in_memory(options_for(compressed(produce)), [&](memory_server& here) -> gyre::task<> {
      auto client = here.connect(1000);
      co_await expect_bounded(client, producer.written, coding, mebibyte);
    });
  }
}

TEST(back_pressure, a_file_that_is_compressed_waits_for_a_client_that_does_not_read) {
  for (const std::string_view coding : http::available_codings()) {
    bool sent = false;
    auto produce = [&](http::body_writer& out) -> gyre::task<> {
      const gyre::fs::file file = file_of(hexadecimal());
      co_await out.send_file(file, 0, hexadecimal().size());
      sent = true;
    };
    run_in_memory(options_for(compressed(produce)), [&](memory_server& here) -> gyre::task<> {
      auto client = here.connect();
      co_await client.send(get_coded(coding));
      co_await gyre::sleep(20s);
      EXPECT_FALSE(sent) << coding;
      const http_answer answer = co_await client.answer();
      EXPECT_TRUE(decode(coding, answer.body).text == hexadecimal()) << coding;
    });
  }
}

TEST(back_pressure, a_client_that_leaves_ends_the_compression_of_a_file_that_never_fills_a_buffer) {
  for (const std::string_view coding : http::available_codings()) {
    exchange_log heard;
    http::router routes;
    routes.use(http::compress());
    constexpr std::size_t size = 64 * mebibyte;
    routes.get("/", [](http::request&) { return response::file(zeros(size), 0, size, "text/plain"); });
    http::server_options options = options_for(std::move(routes));
    options.observer = &heard;
    run_in_memory(std::move(options), [&](memory_server& here) -> gyre::task<> {
      auto client = here.connect();
      co_await client.send(get_coded(coding));
      (void)co_await client.receive();
      reset(client);
      while (here.connections() > 0) co_await gyre::sleep(1ms);
      EXPECT_EQ(heard.complete, std::vector<bool>{false}) << coding;
    });
  }
}

TEST(back_pressure, bytes_that_nobody_took_are_not_counted) {
  for (const std::string_view coding : {"gzip", "identity"}) {
    exchange_log heard;
    auto produce = [](http::body_writer& out) -> gyre::task<> { co_await writer()(out); };
    http::server_options options = options_for(compressed(produce));
    options.observer = &heard;
    options.timeouts.write = 300ms;
    run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
      auto client = co_await connect_with_little_room(here);
      co_await client.send(get_coded(coding));
      for (int i = 0; i < 2000 && (heard.bytes.empty() || here.server().connections() > 0); ++i)
        co_await gyre::sleep(10ms);
      EXPECT_EQ(here.server().connections(), 0U);
      CO_ASSERT_EQ(heard.bytes.size(), 1U);
      EXPECT_FALSE(heard.complete[0]);
      EXPECT_GT(heard.bytes[0], 0U);
      EXPECT_LT(heard.bytes[0], hexadecimal().size() / 2 - mebibyte) << coding;
    });
  }
}

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
