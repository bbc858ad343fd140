// tests/http/server_steady_state_test.cpp: a busy server takes nothing from the heap for a request, and an idle
// connection keeps little. Allocations are counted.
#include <gyre/http/server.hpp>

#include "tests/http/http_client.hpp"

#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <new>
#include <semaphore>
#include <thread>
#include <vector>

#ifndef GYRE_NO_FRAME_POOL  // under sanitizers every frame comes from the heap

namespace {

thread_local bool counting = false;  // set on the server's thread
std::atomic<long> allocations = 0;
std::atomic<std::size_t> largest_allocation = 0;
std::atomic<long> bytes_in_use = 0;  // of the server's thread, with the heap's own 8 bytes of each block

long size_in_heap(void* memory) { return static_cast<long>(::malloc_usable_size(memory)) + 8; }

}  // namespace

// Counts in the whole test program. The memory still comes from malloc.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  if (counting) {
    ++allocations;
    if (size > largest_allocation) largest_allocation = size;
    bytes_in_use += size_in_heap(memory);
  }
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (counting && memory != nullptr) bytes_in_use -= size_in_heap(memory);
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { ::operator delete(memory); }

namespace {

using namespace gyre_test;
using http::response;

constexpr std::size_t connections = 20;

/// Clients on their own thread. Each round sends requests on every connection, then reads all responses.
class clients {
 public:
  explicit clients(const gyre::address& server) {
    for (int& fd : sockets_) {
      fd = ::socket(AF_INET, SOCK_STREAM, 0);
      EXPECT_EQ(::connect(fd, static_cast<const sockaddr*>(server.data()), server.size()), 0);
    }
  }
  ~clients() {
    for (const int fd : sockets_) ::close(fd);
  }
  clients(const clients&) = delete;

  void round(const std::string& requests, std::size_t answered_with) {
    std::string answers(answered_with, '\0');
    for (const int fd : sockets_)
      EXPECT_EQ(::send(fd, requests.data(), requests.size(), MSG_NOSIGNAL), static_cast<ssize_t>(requests.size()));
    for (const int fd : sockets_) {
      EXPECT_EQ(::recv(fd, answers.data(), answers.size(), MSG_WAITALL), static_cast<ssize_t>(answers.size()));
      EXPECT_TRUE(answers.starts_with("HTTP/1.1 200 OK\r\n"));
    }
  }
  /// All responses have the same size.
  std::size_t size_of_answer(const std::string& request) {
    std::array<char, 4096> buffer{};
    EXPECT_EQ(::send(sockets_[0], request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
    const auto size = ::recv(sockets_[0], buffer.data(), buffer.size(), 0);
    EXPECT_GT(size, 0);
    return static_cast<std::size_t>(size);
  }

 private:
  std::array<int, connections> sockets_{};
};

/// The heap allocations of 50 rounds of `depth` requests on each connection, for a server that has served some before.
long allocations_of_a_busy_server(http::handler routes, const std::string& request, int depth) {
  long result = -1;
  gyre::run([&]() -> gyre::task<> {
    http::server server(options_for(std::move(routes)));
    auto serving = gyre::spawn(server.run());
    gyre::event_loop& loop = gyre::event_loop::current();
    counting = true;
    std::thread thread([&, where = gyre::address::parse(server.where()).value()] {
      {
        clients load(where);
        std::string requests;
        for (int i = 0; i < depth; ++i) requests += request;
        const std::size_t size = load.size_of_answer(request) * static_cast<std::size_t>(depth);
        // The number of connections that are served at the same moment is random, and so is the time when the last of
        // them first allocates memory that is then kept. Allocations that each request needs appear in every window.
        for (int window = 0; window < 8 && result != 0; ++window) {
          const long before = allocations;
          for (int i = 0; i < 50; ++i) load.round(requests, size);
          result = allocations - before;
        }
      }
      loop.post([&] { serving.cancel(); });
    });
    co_await serving.wait();
    counting = false;
    thread.join();
  });
  return result;
}

/// Counts the system calls of the backend for requests that come one at a time, those for their client included.
void expect_few_calls_for_each_request(http::handler routes, const std::string& request) {
  gyre::run([&]() -> gyre::task<> {
    http::server server(options_for(std::move(routes)));
    auto serving = gyre::spawn(server.run());
    gyre::io::backend& backend = gyre::event_loop::current().backend();
    auto client = co_await gyre::tcp_stream::connect(server.where());
    std::array<char, 4096> answer{};
    std::uint64_t before = 0;
    for (int i = 0; i < 250; ++i) {
      if (i == 50) before = backend.system_calls();
      co_await client.write_all(request);
      (void)co_await client.read_some(answer);
    }
    const double calls = static_cast<double>(backend.system_calls() - before) / 200;
    EXPECT_LE(calls, backend.name() == "io_uring" ? 2.1 : 4.1);
    serving.cancel();
    co_await serving.wait();
  });
}

/// The heap that each of 400 connections keeps after a request. On a thread of its own: no memory of earlier tests is
/// used again, and what a connection gives back is not kept for others.
long bytes_of_an_idle_connection(http::handler routes) {
  long result = 0;
  const auto serve = [&]() -> gyre::task<> {
    http::server server(options_for(std::move(routes)));
    auto serving = gyre::spawn(server.run());
    gyre::event_loop& loop = gyre::event_loop::current();
    counting = true;
    std::thread thread([&, where = gyre::address::parse(server.where()).value()] {
      {
        std::vector<std::unique_ptr<clients>> idle;
        const auto add = [&] {
          idle.push_back(std::make_unique<clients>(where));
          idle.back()->round("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 90);
        };
        // With epoll, the backend has a table of all descriptors, which the sockets of the clients would double. It is
        // made large enough before: a connection of another program's clients takes 8 to 16 bytes of it.
        std::vector<int> others(1'200);
        for (int& each : others) EXPECT_GE(each = ::dup(STDERR_FILENO), 0);
        for (int i = 0; i < 4; ++i) add();
        for (const int each : others) ::close(each);
        // The last clients have their answers, but the server may not have given back yet what it needed for them.
        const auto at_rest = [&] {
          for (int turns = 0; turns < 3; ++turns) {
            auto turned = std::make_shared<std::promise<void>>();
            auto waiting = turned->get_future();
            loop.post([turned] { turned->set_value(); });
            waiting.wait();
          }
          return bytes_in_use.load();
        };
        const long before = at_rest();
        for (int i = 0; i < 20; ++i) add();
        result = (at_rest() - before) / static_cast<long>(20 * connections);
      }
      loop.post([&] { serving.cancel(); });
    });
    co_await serving.wait();
    counting = false;
    thread.join();
  };
  std::thread own([&] {
    gyre::frame_pool::keep_nothing();
    gyre::run(serve);
  });
  own.join();
  return result;
}

gyre::task<response> hello(http::request&) { co_return response::text("hello"); }

response show_name(http::request& r) { return response::text(r.path_parameter("name")); }

gyre::task<response> echo_length(http::request& r) {
  const std::string_view body = co_await r.body().receive();
  co_return response::bytes({}, "text/plain").set_status(200).add_field("X-Length", body.size() == 4 ? "4" : "other");
}

gyre::task<response> echo_received(http::request& r) { co_return response::text(co_await r.body().receive()); }

const std::string long_get =
    "GET /hello/gyre HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n";
const std::string short_post =
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nbody";
const std::string chunks =
    "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n";

TEST(busy_http_server, takes_nothing_from_the_heap_for_hello_at_any_pipeline_depth) {
  for (const int depth : {1, 16, 100})  // a hundred take several turns
    EXPECT_EQ(allocations_of_a_busy_server(hello, long_get, depth), 0) << depth;
  EXPECT_EQ(allocations_of_a_busy_server([](http::request&) { return response::text("hello"); }, long_get, 100), 0);
}

TEST(busy_http_server, takes_nothing_from_the_heap_for_a_route_with_a_parameter) {
  http::router routes;
  routes.get("/hello/{name}", show_name);
  EXPECT_EQ(allocations_of_a_busy_server(std::move(routes), long_get, 1), 0);
}

TEST(busy_http_server, takes_nothing_from_the_heap_for_a_body_that_is_received_and_sent_back) {
  EXPECT_EQ(allocations_of_a_busy_server(echo_received, short_post, 1), 0);
  EXPECT_EQ(allocations_of_a_busy_server(echo_received, short_post, 16), 0);
}

TEST(busy_http_server, takes_nothing_from_the_heap_for_a_body_in_chunks) {
  EXPECT_EQ(allocations_of_a_busy_server(echo_received, chunks, 1), 0);
}

TEST(busy_http_server, takes_nothing_from_the_heap_for_fields_of_the_answer) {
  EXPECT_EQ(allocations_of_a_busy_server(echo_length, short_post, 1), 0);
}

// The server keeps memory for as many requests as were in progress at the same time. On a busy machine, that number can
// rise in the middle of a measurement.
long min_bytes_of_an_idle_connection(http::handler (*routes)()) {
  long least = bytes_of_an_idle_connection(routes());
  for (int i = 0; i < 4 && least > 600; ++i) least = std::min(least, bytes_of_an_idle_connection(routes()));
  return least;
}

TEST(idle_http_server, keeps_at_most_600_bytes_for_each_connection) {
  const auto prompt = []() -> http::handler { return [](http::request&) { return response::text("hello"); }; };
  const auto with_coroutine = []() -> http::handler { return hello; };
  EXPECT_LE(min_bytes_of_an_idle_connection(prompt), 600);
  EXPECT_LE(min_bytes_of_an_idle_connection(with_coroutine), 600);
}

gyre::task<response> drop(http::request& r) {
  std::size_t size = 0;
  for (;;) {
    const std::string_view piece = co_await r.body().receive();
    if (piece.empty()) co_return response::text(std::to_string(size));
    size += piece.size();
  }
}

// The bytes of a body stay in the buffer into which the kernel has put them.
TEST(busy_http_server, does_not_gather_an_upload_that_arrives_with_its_head) {
  const std::string upload =
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n" + std::string(200'000, 'x');
  gyre::run([&]() -> gyre::task<> {
    http::server server(options_for(drop));
    auto serving = gyre::spawn(server.run());
    auto client = co_await gyre::tcp_stream::connect(server.where());
    const int room = 1 << 20U;
    EXPECT_EQ(::setsockopt(client.native_descriptor(), SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), 0);
    std::array<char, 4096> answer{};
    for (int i = 0; i < 10; ++i) {
      if (i == 5) {  // the server has its buffers now
        largest_allocation = 0;
        counting = true;
      }
      EXPECT_EQ(::send(client.native_descriptor(), upload.data(), upload.size(), MSG_DONTWAIT | MSG_NOSIGNAL),
                static_cast<ssize_t>(upload.size()));
      const auto n = co_await client.read_some(answer);
      EXPECT_TRUE(std::string_view(answer.data(), n).ends_with("200000"));
    }
    counting = false;
    EXPECT_LT(largest_allocation, std::size_t{64} << 10U);
    serving.cancel();
    co_await serving.wait();
  });
}

TEST(busy_http_server, makes_no_additional_system_call_for_a_request_that_comes_alone) {
  expect_few_calls_for_each_request(hello, long_get);
}

}  // namespace

#endif
