// tests/resp/allocation_test.cpp: parsing and running the common commands allocates no memory.
#include "programs/resp_server/commands.hpp"
#include "programs/resp_server/request_parser.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>

namespace {

std::size_t allocations = 0;

void* counted_new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return counted_new(bytes); }
void* operator new[](std::size_t bytes) { return counted_new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace resp;

// The allocations of the second hundred of identical requests, including replies.
std::size_t in_steady_state(std::string_view request) {
  keyspace keys;
  server_info info;
  connection_state connection{.server = info};
  request_parser parser;
  reply_buffer reply;
  const auto serve = [&] {
    const parse_result parsed = parser.parse(request);
    EXPECT_EQ(parsed.status, parse_status::command);
    EXPECT_EQ(parsed.consumed, request.size());
    reply.clear();
    execute(parser.arguments(), keys, 1'000'000, reply, connection);
  };
  keys.set("a key that is not short", "a value that is not short", 0);
  for (int i = 0; i < 100; ++i) serve();
  const std::size_t before = allocations;
  for (int i = 0; i < 100; ++i) serve();
  return allocations - before;
}

}  // namespace

TEST(allocation, is_counted) {
  const std::size_t before = allocations;
  const std::string text(1000, 'x');
  EXPECT_GT(allocations, before) << text.size();
}

TEST(allocation, none_for_the_common_commands) {
  EXPECT_EQ(in_steady_state("*1\r\n$4\r\nPING\r\n"), 0u);
  EXPECT_EQ(in_steady_state("PING\r\n"), 0u);
  EXPECT_EQ(in_steady_state("*2\r\n$3\r\nGET\r\n$23\r\na key that is not short\r\n"), 0u);
  EXPECT_EQ(in_steady_state("*2\r\n$3\r\nGET\r\n$7\r\nmissing\r\n"), 0u);
  EXPECT_EQ(
      in_steady_state("*3\r\n$3\r\nSET\r\n$23\r\na key that is not short\r\n$26\r\nanother, as long as before\r\n"),
      0u);
}

TEST(allocation, none_for_keys_that_exist) {
  EXPECT_EQ(in_steady_state("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$40\r\n0123456789012345678901234567890123456789\r\n"), 0u);
  EXPECT_EQ(in_steady_state("set k v px 100\r\n"), 0u);
  EXPECT_EQ(in_steady_state("incr n\r\n"), 0u);
  EXPECT_EQ(in_steady_state("mget k k k\r\n"), 0u);
  EXPECT_EQ(in_steady_state("echo \"quoted words\"\r\n"), 0u);
}
