// tests/resp/allocation_test.cpp: parsing and running the common commands allocates no memory.
#include "programs/resp_server/request_parser.hpp"
#include "tests/resp/shard_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::atomic<std::size_t> allocations = 0;
std::atomic<std::size_t> fails_at = 0;  // the number of the allocation that fails; 0: none

void* counted_new_or_null(std::size_t bytes) noexcept {
  return ++allocations == fails_at ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}

void* counted_new(std::size_t bytes) {
  if (void* const memory = counted_new_or_null(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return counted_new(bytes); }
void* operator new[](std::size_t bytes) { return counted_new(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted_new_or_null(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return counted_new_or_null(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace resp;
using namespace resp_test;

// The allocations of the second hundred of identical requests, including replies.
std::size_t in_steady_state(std::string_view request) {
  shard_set shards(1, {});
  client_buffers buffers(shards[0].limits);
  const auto serve = [&] {
    const parse_result parsed = buffers.parser.parse(request);
    EXPECT_EQ(parsed.consumed, request.size());
    buffers.clear();
    const command_call call{buffers.parser.arguments(), shards[0], 1'000'000, buffers.reply};
    admit(call)->run(call);
  };
  shards[0].keys.set(nullptr, "a key that is not short", "a value that is not short");
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
  EXPECT_EQ(in_steady_state("incr n\r\n"), 0u);
  EXPECT_EQ(in_steady_state("*2\r\n$3\r\nGET\r\n$23\r\na key that is not short\r\n"), 0u);
  EXPECT_EQ(in_steady_state("*2\r\n$3\r\nGET\r\n$7\r\nmissing\r\n"), 0u);
  EXPECT_EQ(
      in_steady_state("*3\r\n$3\r\nSET\r\n$23\r\na key that is not short\r\n$26\r\nanother, as long as before\r\n"),
      0u);
}

#ifndef GYRE_NO_FRAME_POOL  // under sanitizers every frame comes from the heap
TEST(allocation, none_for_pipelines_over_several_shards) {
  for (const std::size_t loops : {1U, 3U}) {
    beside_shards({.loops = loops}, [](gyre::address where, shard_set& shards) -> gyre::task<> {
      std::string requests;
      std::string expected;
      model right;
      for (const request& each : {request{"MSET", "a", "1", "b", "2", "c", "3", "d", "4"}, request{"GET", "a"},
                                  request{"SET", "b", "a value that is not short"}, request{"GET", "b"},
                                  request{"MGET", "d", "c", "b", "a", "none"}, request{"INCR", "c"}, request{"PING"},
                                  request{"EXISTS", "a", "b", "c", "d", "none"}}) {
        requests += encoded(each);
        expected += right(each);
      }
      std::string replies(expected.size(), '\0');
      for (std::size_t i = 0; i < shards.size(); ++i) {  // a connection on each loop
        client mine = co_await client::connect(where);
        std::size_t fewest = 1000;  // other loops may still be starting
        for (int some = 0; some < 10 && fewest > 0; ++some) {
          const std::size_t before = allocations;
          for (int round = 0; round < 100; ++round) {
            co_await mine.send(requests);
            co_await mine.stream().read_exactly(std::as_writable_bytes(std::span(replies)));
          }
          fewest = std::min(fewest, allocations - before);
          EXPECT_EQ(replies, expected);
        }
        EXPECT_EQ(fewest, 0U);
      }
    });
  }
}
#endif

TEST(allocation, that_fails_on_another_shard_ends_the_exchange_and_harms_no_other) {
  on_three_loops([](shard_set&) -> gyre::task<> {
    const std::string value(100, 'v');
    std::vector<std::string_view> set{"MSET"};
    std::vector<std::string_view> get{"MGET"};
    std::string expected = "+OK\r\n*8\r\n";
    for (const std::string_view key : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
      set.insert(set.end(), {key, value});
      get.push_back(key);
      expected += "$100\r\n" + value + "\r\n";
    }
    std::size_t failures = 0;
    for (bool failed = true; failed; failures += failed ? 1 : 0) {
      shard_set shards(3, {});
      request_batch batch(shards, 0);
      batch.add(*find_command("mset"), set);
      fails_at = allocations + failures + 1;
      try {
        co_await batch.exchange();
        failed = false;
      } catch (const std::bad_alloc&) {
      }
      fails_at = 0;
      request_batch next(shards, 0);
      next.add(*find_command("mset"), set);
      next.add(*find_command("mget"), get);
      co_await next.exchange();
      reply_buffer replies(reply_limit);
      EXPECT_TRUE(next.join(replies));
      EXPECT_EQ(replies.view(), expected);
    }
    EXPECT_GT(failures, 3U);
  });
}
