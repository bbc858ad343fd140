// tests/net/steady_state_test.cpp: what a busy server takes from the heap and from the kernel for a request, counted.
#include <gyre/io/kernel.hpp>

#include "tests/net/echo.hpp"

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <semaphore>
#include <thread>
#include <vector>

#ifndef GYRE_NO_FRAME_POOL  // under sanitizers every frame comes from the heap

namespace {

thread_local bool counting = false;  // set on the server's thread
std::atomic<long> allocations = 0;
std::atomic<long> sends = 0;

const gyre::io::kernel& counting_sends() {
  static const gyre::io::kernel calls = [] {
    gyre::io::kernel changed = gyre::io::kernel::real();
    changed.sockets.send = [](int fd, const void* data, std::size_t size, int flags) {
      if (counting) ++sends;
      return gyre::io::kernel::real().sockets.send(fd, data, size, flags);
    };
    return changed;
  }();
  return calls;
}

}  // namespace

// Counts in the whole test program. The memory still comes from malloc.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (counting) ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace gyre_test;

constexpr std::size_t client_connections = 50;
constexpr std::size_t request_size = 106;

struct costs {
  double allocations;
  double system_calls;
};

/// Makes the loop's thread wait, so that all data that a client sends meanwhile is available at once.
struct loop_pause : gyre::io::completion {
  std::binary_semaphore begun{0};
  std::binary_semaphore over{0};
  std::uint64_t backend_calls = 0;

  void begin(gyre::event_loop& loop) {
    complete = [](gyre::io::completion& c) noexcept {
      auto& self = static_cast<loop_pause&>(c);
      self.backend_calls = gyre::event_loop::current().backend().system_calls();
      self.begun.release();
      self.over.acquire();
    };
    loop.post(static_cast<gyre::io::completion&>(*this));
    begun.acquire();
  }
  void end() { over.release(); }
};

/// A closed-loop client on a separate thread. Each round sends one request on every connection, then reads all replies.
class client {
 public:
  /// `pauses` must outlive the turn of the loop in which the last pause ends.
  client(const gyre::address& server, loop_pause& pauses) : pause_(pauses) {
    for (int& fd : sockets_) {
      fd = ::socket(AF_INET, SOCK_STREAM, 0);
      EXPECT_EQ(::connect(fd, static_cast<const sockaddr*>(server.data()), server.size()), 0);
    }
  }
  ~client() {
    for (const int fd : sockets_) ::close(fd);
  }
  client(const client&) = delete;

  void round(gyre::event_loop& loop) {
    std::array<char, request_size> bytes{};
    pause_.begin(loop);
    for (const int fd : sockets_) EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), ssize_t{request_size});
    pause_.end();
    for (const int fd : sockets_) EXPECT_EQ(::recv(fd, bytes.data(), bytes.size(), MSG_WAITALL), ssize_t{request_size});
  }

  costs costs_of(int rounds, gyre::event_loop& loop) {
    const auto state = [&] {
      pause_.begin(loop);
      const auto calls = static_cast<double>(pause_.backend_calls) + static_cast<double>(sends);
      const costs now{static_cast<double>(allocations), calls};
      pause_.end();
      return now;
    };
    const costs before = state();
    for (int i = 0; i < rounds; ++i) round(loop);
    const costs after = state();
    const double requests = static_cast<double>(client_connections) * rounds;
    return {after.allocations - before.allocations, (after.system_calls - before.system_calls) / requests};
  }

 private:
  std::array<int, client_connections> sockets_{};
  loop_pause& pause_;
};

/// The cost of the requests of 50 connections to an echo server that has already served some.
costs costs_of_a_busy_server() {
  const gyre::io::kernel_scope used(counting_sends());
  costs result{};
  gyre::run([&]() -> gyre::task<> {
    test_server server(echo);
    gyre::event_loop& loop = gyre::event_loop::current();
    counting = true;
    loop_pause pauses;
    std::thread thread([&, where = server.where()] {
      {
        client load(where, pauses);
        for (int i = 0; i < 20; ++i) load.round(loop);
        result = load.costs_of(200, loop);
      }
      loop.post([&] { server.serving.cancel(); });
    });
    co_await server.serving.wait();
    counting = false;
    thread.join();
  });
  return result;
}

TEST(busy_server, takes_nothing_from_the_heap_for_a_request) { EXPECT_EQ(costs_of_a_busy_server().allocations, 0); }

std::string name_of_backend() {
  std::string name;
  gyre::run([&]() -> gyre::task<> {
    name = gyre::event_loop::current().backend().name();
    co_return;
  });
  return name;
}

TEST(busy_server, makes_less_than_one_system_call_a_request_on_io_uring) {
  if (name_of_backend() != "io_uring") GTEST_SKIP() << "epoll needs two: one to read, one to write";
  EXPECT_LE(costs_of_a_busy_server().system_calls, 1.0);
}

TEST(busy_server, reads_once_and_writes_once_per_request_on_epoll) {
  if (name_of_backend() != "epoll") GTEST_SKIP() << "a ring needs fewer";
  EXPECT_NEAR(costs_of_a_busy_server().system_calls, 2.1, 0.2);
}

}  // namespace

#endif
