// tests/client/steady_state_test.cpp: a busy client takes nothing from the heap for a request, and makes few system
// calls. Allocations are counted.
#include "tests/client/scripted_server.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <future>
#include <new>
#include <optional>
#include <string_view>
#include <thread>

#ifndef GYRE_NO_FRAME_POOL  // under sanitizers every frame comes from the heap

namespace {

thread_local bool counting = false;  // set on the client's thread
std::atomic<long> allocations = 0;

}  // namespace

// Counts in the whole test program. The memory still comes from malloc.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  if (counting) ++allocations;
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace gyre_test;

constexpr std::size_t connections = 64;

/// Answers every request of its connections from threads of its own.
class blocking_server {
 public:
  blocking_server() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in local{};
    local.sin_family = AF_INET;
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(local);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&local), size), 0);
    EXPECT_EQ(::listen(listener_, static_cast<int>(connections)), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&local), &size), 0);
    port_ = ntohs(local.sin_port);
    for (std::thread& each : threads_) each = std::thread([this] { serve(::accept(listener_, nullptr, nullptr)); });
  }
  ~blocking_server() {
    ::shutdown(listener_, SHUT_RDWR);
    for (std::thread& each : threads_) each.join();
    ::close(listener_);
  }
  blocking_server(const blocking_server&) = delete;
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/some/path?x=1"; }

 private:
  static void serve(int fd) {
    constexpr std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";
    std::array<char, 4096> buffer{};
    std::size_t size = 0;
    while (true) {
      const ssize_t count = ::recv(fd, buffer.data() + size, buffer.size() - size, 0);
      if (count <= 0) break;
      size += static_cast<std::size_t>(count);
      if (!std::string_view(buffer.data(), size).ends_with("\r\n\r\n")) continue;
      size = 0;
      if (::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) break;
    }
    ::close(fd);
  }
  int listener_;
  unsigned port_ = 0;
  std::array<std::thread, connections> threads_;
};

}  // namespace

TEST(client_steady_state, a_busy_client_takes_nothing_from_the_heap_for_a_request) {
  run_real([]() -> gyre::task<> {
    blocking_server server;
    const std::string url = server.url();
    std::optional<http::client> kept(std::in_place);
    http::client& client = *kept;
    std::size_t bytes = 0;
    auto ask = [&]() -> gyre::task<> {
      for (int i = 0; i < 20; ++i) {
        auto response = co_await client.get(url);
        for (;;) {
          const std::string_view piece = co_await response.body().receive();
          if (piece.empty()) break;
          bytes += piece.size();
        }
      }
    };
    auto round = [&](gyre::task_group& group) -> gyre::task<> {
      for (std::size_t i = 0; i < connections; ++i) group.spawn(ask());
      co_return;
    };
    for (int i = 0; i < 8; ++i) {
      counting = i == 7;
      co_await gyre::task_group::scope(round);
    }
    counting = false;
    EXPECT_EQ(bytes, 8 * connections * 20 * 5);
    EXPECT_EQ(client.counts().opened, connections);
    EXPECT_EQ(client.counts().retried, 0U);
    // The threads of the server decide how much happens at the same time. If more connections wait in the same place
    // than in the rounds before, the pool of frames grows once more.
    EXPECT_LE(allocations, static_cast<long>(connections)) << "for 1280 requests";
    kept.reset();
    for (int i = 0; i < 10; ++i) co_await gyre::yield_turn();  // the kernel releases the sockets
  });
}

#endif
