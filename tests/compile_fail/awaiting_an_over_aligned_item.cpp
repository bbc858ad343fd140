// tests/compile_fail/awaiting_an_over_aligned_item.cpp: coroutine frames have the alignment of the heap.
// expect: a coroutine cannot hold an over-aligned value
#include <gyre/sync/queue.hpp>

struct alignas(64) wide {
  int number = 0;
};
gyre::task<> take(gyre::queue<wide>& from) { (void)co_await from.get(); }
