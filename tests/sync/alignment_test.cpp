// tests/sync/alignment_test.cpp: values that need more alignment than the heap gives by itself.
#include <gyre/loop/task_local.hpp>
#include <gyre/sync.hpp>

#include "tests/support/virtual_run.hpp"

#include <cstdint>
#include <memory>
#include <vector>

using namespace gyre_test;

namespace {

struct alignas(64) wide {
  int number = 0;
};

bool is_aligned(const void* at) { return reinterpret_cast<std::uintptr_t>(at) % alignof(wide) == 0; }

}  // namespace

TEST(over_aligned, values_that_the_library_allocates_are_aligned) {
  run_virtual([]() -> gyre::task<> {
    std::vector<std::unique_ptr<char[]>> between;  // moves the next blocks
    gyre::task_local<wide> local;
    for (std::size_t i = 0; i < 32; ++i) {
      between.push_back(std::make_unique<char[]>(16 * i + 24));
      gyre::promise<wide> promise;
      const auto future = promise.get_future();
      promise.set_value(wide{1});
      EXPECT_TRUE(is_aligned(&future.result()));
      const auto bound = local.bind(wide{2});
      EXPECT_TRUE(is_aligned(local.get()));
      gyre::oneshot_state<wide>& shared = *new gyre::oneshot_state<wide>;
      const gyre::oneshot_sender<wide> sender(shared);
      const gyre::oneshot_receiver<wide> receiver(shared);
      EXPECT_TRUE(is_aligned(&shared.value));
    }
    co_return;
  });
}
