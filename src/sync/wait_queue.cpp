// src/sync/wait_queue.cpp: lines of waiting operations.
#include <gyre/sync/wait_queue.hpp>

#include <exception>

namespace gyre {

void report_lost_item() noexcept { event_loop::report({std::current_exception(), {}, {}, "giving an item back"}); }

void wait_queue::stop_for_destroyed(const char* object) noexcept { misuse_of_awaited(object); }

bool wait_queue::grant_one() noexcept {
  if (empty()) return false;
  grant(*first());
  return true;
}

void wait_queue::refuse_all() noexcept {
  while (!empty()) {
    first()->refused = true;
    grant(*first());
  }
}

void wait_queue::grant_all() noexcept {
  while (grant_one()) {
  }
}

}  // namespace gyre
