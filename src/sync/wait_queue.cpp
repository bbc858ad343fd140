// src/sync/wait_queue.cpp: standing in line.
#include <gyre/sync/wait_queue.hpp>

#include <exception>

namespace gyre {

void report_lost_item() noexcept { event_loop::report({std::current_exception(), {}, {}, "giving an item back"}); }

wait_queue::~wait_queue() {
  if (!empty()) misuse("a mutex, queue or the like was destroyed while a task waits for it");
}

bool wait_queue::grant_one() noexcept {
  if (empty()) return false;
  wait_node& node = *first();
  remove(node);
  node.grant(node);
  return true;
}

void wait_queue::refuse_all() noexcept {
  while (!empty()) {
    first()->refused = true;
    grant_one();
  }
}

void wait_queue::grant_all() noexcept {
  while (grant_one()) {
  }
}

}  // namespace gyre
