// src/loop/inbox.hpp: hands work to a loop from other threads and signal handlers.
#pragma once

#include <gyre/io/completion.hpp>

#include <atomic>

namespace gyre {

/// A queue with many producers and one consumer. Lock-free; push is safe in a signal handler.
class inbox {
 public:
  /// Thread: any. Returns true if the queue was empty.
  bool push(io::completion& item) noexcept {
    io::completion* top = top_.load(std::memory_order_relaxed);
    do item.next = top;
    while (!top_.compare_exchange_weak(top, &item, std::memory_order_seq_cst, std::memory_order_relaxed));
    return top == nullptr;
  }

  [[nodiscard]] bool empty() const noexcept { return top_.load(std::memory_order_seq_cst) == nullptr; }

  /// For the consumer: moves everything to the end of `ready`, in the order of the pushes.
  void drain(io::ready_list& ready) noexcept {
    if (top_.load(std::memory_order_relaxed) == nullptr) return;
    io::completion* item = top_.exchange(nullptr, std::memory_order_acquire);
    io::completion* reversed = nullptr;
    while (item != nullptr) {
      io::completion* const following = item->next;
      item->next = reversed;
      reversed = item;
      item = following;
    }
    while (reversed != nullptr) {
      io::completion* const following = reversed->next;
      ready.push_back(*reversed);
      reversed = following;
    }
  }

 private:
  std::atomic<io::completion*> top_{nullptr};
};

}  // namespace gyre
