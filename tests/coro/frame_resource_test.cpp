// tests/coro/frame_resource_test.cpp: frames of coroutines from a std::pmr::memory_resource.
#include <gyre/coro/frame_resource.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/runtime/run.hpp>
#include <gyre/tasks/gather.hpp>
#include <gyre/tasks/spawn.hpp>
#include <gyre/tasks/timeout.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;

// Counts blocks, and compares the sizes of allocation and deallocation.
class counting_resource final : public std::pmr::memory_resource {
 public:
  int allocated = 0;
  int live = 0;
  std::size_t bytes = 0;

 private:
  void* do_allocate(std::size_t size, std::size_t alignment) override {
    void* const memory = std::pmr::new_delete_resource()->allocate(size, alignment);
    ++allocated;
    ++live;
    bytes += size;
    return memory;
  }
  void do_deallocate(void* memory, std::size_t size, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(memory, size, alignment);
    --live;
    bytes -= size;
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

// Not inlined, so that the frame is not made a part of the caller's.
[[gnu::noinline]] gyre::task<int> twice(std::allocator_arg_t, std::pmr::memory_resource* memory, int n) {
  (void)memory;
  co_await gyre::yield();
  co_return 2 * n;
}

[[gnu::noinline]] gyre::task<int> four_times(std::allocator_arg_t, std::pmr::polymorphic_allocator<> memory, int n) {
  const int once = co_await twice(std::allocator_arg, memory.resource(), n);
  const int again = co_await twice(std::allocator_arg, memory.resource(), once);
  co_return again;
}

[[gnu::noinline]] gyre::generator<int> count_to(std::allocator_arg_t, std::pmr::memory_resource*, int n) {
  for (int i = 1; i <= n; ++i) co_yield i;
}

[[gnu::noinline]] gyre::async_generator<int> count_slowly_to(std::allocator_arg_t, std::pmr::memory_resource*, int n) {
  for (int i = 1; i <= n; ++i) {
    co_await gyre::yield();
    co_yield i;
  }
}

[[gnu::noinline]] gyre::task<> fails(std::allocator_arg_t, std::pmr::memory_resource*) {
  co_await gyre::yield();
  throw std::runtime_error("failed");
}

[[gnu::noinline]] gyre::task<> sleeps(std::allocator_arg_t, std::pmr::memory_resource*) { co_await gyre::sleep(1h); }

struct doubler {
  int factor = 2;
  [[gnu::noinline]] gyre::task<int> apply(std::allocator_arg_t, std::pmr::memory_resource*, int n) const {
    co_await gyre::yield();
    co_return factor* n;
  }
};

TEST(frame_resource, a_task_takes_its_frame_from_the_resource_and_returns_it) {
  counting_resource memory;
  EXPECT_EQ(gyre::run(four_times(std::allocator_arg, &memory, 5)), 20);
  EXPECT_EQ(memory.allocated, 3);
  EXPECT_EQ(memory.live, 0);
  EXPECT_EQ(memory.bytes, 0U);
}

TEST(frame_resource, a_task_that_is_never_awaited_returns_its_frame) {
  counting_resource memory;
  {
    [[maybe_unused]] const gyre::task<int> dropped = twice(std::allocator_arg, &memory, 1);
    EXPECT_EQ(memory.live, 1);
  }
  EXPECT_EQ(memory.live, 0);
}

TEST(frame_resource, member_functions_and_lambdas_take_the_resource_after_their_object) {
  counting_resource memory;
  const doubler twice_as_much;
  EXPECT_EQ(gyre::run(twice_as_much.apply(std::allocator_arg, &memory, 4)), 8);
  EXPECT_EQ(memory.allocated, 1);
  const auto triple = [](std::allocator_arg_t, std::pmr::memory_resource*, int n) -> gyre::task<int> {
    co_await gyre::yield();
    co_return 3 * n;
  };
  EXPECT_EQ(gyre::run(triple(std::allocator_arg, &memory, 4)), 12);
  EXPECT_EQ(memory.allocated, 2);
  EXPECT_EQ(memory.live, 0);
}

TEST(frame_resource, generators_take_their_frames_from_the_resource) {
  counting_resource memory;
  int sum = 0;
  for (const int each : count_to(std::allocator_arg, &memory, 3)) sum += each;
  EXPECT_EQ(sum, 6);
  EXPECT_EQ(memory.allocated, 1);
  const auto adds = [&]() -> gyre::task<> {
    auto numbers = count_slowly_to(std::allocator_arg, &memory, 3);
    while (const int* number = co_await numbers.next()) sum += *number;
  };
  gyre::run(adds);
  EXPECT_EQ(sum, 12);
  EXPECT_EQ(memory.allocated, 2);
  EXPECT_EQ(memory.live, 0);
}

TEST(frame_resource, a_failed_task_returns_its_frame) {
  counting_resource memory;
  EXPECT_THROW(gyre::run(fails(std::allocator_arg, &memory)), std::runtime_error);
  EXPECT_EQ(memory.allocated, 1);
  EXPECT_EQ(memory.live, 0);
}

TEST(frame_resource, a_cancelled_task_returns_its_frame) {
  counting_resource memory;
  const auto cancels = [&]() -> gyre::task<> {
    auto handle = gyre::spawn(sleeps(std::allocator_arg, &memory));
    co_await gyre::yield();
    handle.cancel();
    co_await handle.wait();
    auto limited = gyre::timeout(1ms, sleeps(std::allocator_arg, &memory));
    try {
      co_await std::move(limited);
    } catch (const gyre::timed_out&) {
    }
  };
  gyre::run(cancels);
  EXPECT_EQ(memory.allocated, 2);
  EXPECT_EQ(memory.live, 0);
}

TEST(frame_resource, an_exhausted_resource_throws_at_the_call) {
  std::array<std::byte, 16> small{};
  std::pmr::monotonic_buffer_resource memory(small.data(), small.size(), std::pmr::null_memory_resource());
  EXPECT_THROW((void)twice(std::allocator_arg, &memory, 1), std::bad_alloc);
}

TEST(frame_resource, a_monotonic_resource_serves_a_whole_request) {
  std::array<std::byte, 8192> arena{};
  std::pmr::monotonic_buffer_resource memory(arena.data(), arena.size(), std::pmr::null_memory_resource());
  const auto serves = [&]() -> gyre::task<int> {
    auto both = gyre::gather(twice(std::allocator_arg, &memory, 1), twice(std::allocator_arg, &memory, 2));
    const auto results = co_await std::move(both);
    co_return results.get<0>() + results.get<1>();
  };
  EXPECT_EQ(gyre::run(serves), 6);
}

TEST(frame_resource, frames_are_aligned_for_every_type) {
  std::array<std::byte, 8192> arena{};
  std::pmr::monotonic_buffer_resource memory(arena.data() + 1, arena.size() - 1, std::pmr::null_memory_resource());
  const gyre::task<int> first = twice(std::allocator_arg, &memory, 1);
  const gyre::task<int> second = twice(std::allocator_arg, &memory, 1);
  for (const auto* each : {&first, &second})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(each->frame().handle().address()) % __STDCPP_DEFAULT_NEW_ALIGNMENT__,
              0U);
}

}  // namespace
