// tests/tls/https_buffers_test.cpp: when an encrypted connection has buffers for records. OpenSSL takes them from
// functions that count.
#include "tests/tls/https_server.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace gyre_test;
using namespace std::chrono_literals;
using http::response;

constexpr std::size_t size_of_record = std::size_t{16} << 10U;

// Each block has a header, so that its end can be counted where its beginning was.
struct alignas(std::max_align_t) block_header {
  std::size_t size;
  bool counted;
};

thread_local bool is_server = false;
std::atomic<long> taken = 0;  // blocks for records that a server has taken
std::atomic<long> held = 0;   // of these, the ones that were not given back

void* take(std::size_t size, const char* /*file*/, int /*line*/) {
  void* const memory = std::malloc(sizeof(block_header) + size);
  if (memory == nullptr) return nullptr;
  const bool counted = is_server && size >= size_of_record;
  if (counted) ++taken, ++held;
  return ::new (memory) block_header{.size = size, .counted = counted} + 1;
}

void give_back(void* memory, const char* /*file*/, int /*line*/) {
  if (memory == nullptr) return;
  block_header* const block = static_cast<block_header*>(memory) - 1;
  if (block->counted) --held;
  std::free(block);
}

void* take_again(void* memory, std::size_t size, const char* file, int line) {
  void* const other = take(size, file, line);
  if (memory == nullptr || other == nullptr) return other;
  std::memcpy(other, memory, std::min(size, (static_cast<block_header*>(memory) - 1)->size));
  give_back(memory, file, line);
  return other;
}

// OpenSSL accepts these only before it has taken its first block.
const bool counts = CRYPTO_set_mem_functions(&take, &take_again, &give_back) == 1;

/// Runs `clients(where)`, which returns a task<>, on a thread of its own, beside a server that counts on this one.
template <class F>
void run_beside_counting_server(F clients) {
  is_server = true;
  const auto hello = [](http::request&) -> gyre::task<response> { co_return response::text("hello"); };
  run_beside_server(over_tls(hello), clients);
  is_server = false;
}

gyre::task<> get(https_client& client) {
  co_await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto answer = co_await client.answer();
  EXPECT_EQ(answer.body, "hello");
}

gyre::task<> wait_until_none_is_held() {
  for (int i = 0; i < 2'000 && held > 0; ++i) co_await gyre::sleep(10ms);
}

}  // namespace

TEST(https_buffers, buffers_stay_with_a_busy_connection_between_its_requests) {
  ASSERT_TRUE(counts);
  long during_requests = -1;
  run_beside_counting_server([&](std::string where) -> gyre::task<> {
    auto client = co_await connect_over_tls(where);
    for (int i = 0; i < 3; ++i) co_await get(client);
    during_requests = -taken;
    for (int i = 0; i < 50; ++i) co_await get(client);
    during_requests += taken;
  });
  EXPECT_EQ(during_requests, 0);
}

TEST(https_buffers, a_connection_that_is_idle_for_a_while_gives_buffers_back_and_its_next_request_takes_them_again) {
  ASSERT_TRUE(counts);
  long left = -1;
  long after_use = 0;
  run_beside_counting_server([&](std::string where) -> gyre::task<> {
    std::vector<https_client> clients;
    for (int i = 0; i < 5; ++i) clients.push_back(co_await connect_over_tls(where));
    for (int round = 0; round < 2; ++round) {
      for (auto& client : clients) co_await get(client);
      after_use = held;
      co_await wait_until_none_is_held();
      left = held;
    }
  });
  EXPECT_GT(after_use, 0);
  EXPECT_EQ(left, 0);
}

TEST(https_buffers, a_bounded_number_of_connections_keeps_buffers) {
  ASSERT_TRUE(counts);
  constexpr int connections = 300;
  long after_use = 0;
  run_beside_counting_server([&](std::string where) -> gyre::task<> {
    std::vector<https_client> clients;
    for (int i = 0; i < connections; ++i) {
      clients.push_back(co_await connect_over_tls(where));
      co_await get(clients.back());
    }
    for (auto& client : clients) co_await get(client);
    after_use = held;
    for (auto& client : clients) co_await get(client);
  });
  EXPECT_LE(after_use, 2 * 256);
  EXPECT_EQ(held, 0);
}
