// tests/tls/upload_steady_state_test.cpp: an HTTPS server that receives a large body takes nothing from the heap for
// its pieces. Allocations are counted.
#include "tests/tls/https_server.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#ifndef GYRE_NO_FRAME_POOL  // under sanitizers every frame comes from the heap

namespace {

thread_local bool counting = false;  // set on the server's thread
std::atomic<long> allocations = 0;
std::atomic<long> large_ones = 0;  // of 64 KiB and more

}  // namespace

// Counts in the whole test program. The memory still comes from malloc.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  if (counting) ++allocations;
  if (counting && size >= 65'536) ++large_ones;
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace gyre_test;
using http::response;

constexpr std::size_t megabyte = std::size_t{1} << 20U;
constexpr std::size_t whole = 24 * megabyte;

struct upload_counts {
  long allocated = 0;
  std::size_t pieces = 0;
  std::size_t bytes = 0;  // of all
  std::size_t wrong = 0;  // bytes
};

/// Reads a body. Counts after its first third, when all that is kept for further pieces exists.
gyre::task<upload_counts> receive_all(http::request& request) {
  request.body().set_limit(whole);
  upload_counts found;
  for (;;) {
    const std::string_view piece = co_await request.body().receive();
    if (piece.empty()) break;
    for (const char each : piece) found.wrong += each == static_cast<char>('a' + found.bytes++ % 23) ? 0 : 1;
    if (counting) ++found.pieces;
    if (counting || found.bytes < whole / 3) continue;
    counting = true;
    found.allocated = -allocations;
  }
  counting = false;
  found.allocated += allocations;
  co_return found;
}

gyre::task<> upload(https_client& client, std::size_t size) {
  std::string body(size, '\0');
  for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>('a' + i % 23);
  co_await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + body);
  const auto answer = co_await client.answer();
  EXPECT_EQ(answer.status, 200);
}

}  // namespace

TEST(https_upload, an_upload_takes_nothing_from_the_heap_for_a_piece) {
  upload_counts last;
  http::server_options options = over_tls([&last](http::request& request) -> gyre::task<response> {
    last = co_await receive_all(request);
    co_return response::text("thanks");
  });
  run_beside_server(std::move(options), [](std::string where) -> gyre::task<> {
    auto client = co_await connect_over_tls(where);
    for (int i = 0; i < 2; ++i) co_await upload(client, whole);
  });
  EXPECT_EQ(last.bytes, whole);
  EXPECT_EQ(last.wrong, 0U);
  EXPECT_GT(last.pieces, 100U);
  EXPECT_EQ(last.allocated, 0) << "for " << last.pieces << " pieces";
}

TEST(https_upload, an_upload_leaves_no_buffer_with_a_connection_that_is_idle_afterwards) {
  std::size_t received = 0;
  http::server_options options = over_tls([&received](http::request& request) -> gyre::task<response> {
    counting = received > 0;  // the buffers for the first one exist
    const std::string body = co_await request.body().read_all();
    received += body.size();
    counting = false;
    co_return response::text("thanks");
  });
  large_ones = 0;
  run_beside_server(std::move(options), [](std::string where) -> gyre::task<> {
    std::vector<https_client> idle;
    for (int i = 0; i < 20; ++i) {
      auto client = co_await connect_over_tls(where);
      co_await upload(client, 40'000);
      idle.push_back(std::move(client));
    }
  });
  EXPECT_EQ(received, 800'000U);
  EXPECT_EQ(large_ones, 0);
}

#endif
