// src/loop/loop_local.cpp: the number of a loop_local, and its value on this thread's loop.
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/loop_local.hpp>

#include "loop_values.hpp"

#include <atomic>

namespace gyre {
namespace {

constinit std::atomic<std::size_t> loop_locals{0};

}  // namespace

loop_local_slot::loop_local_slot() noexcept : number_(loop_locals.fetch_add(1, std::memory_order_relaxed)) {}

void* loop_local_slot::find() const noexcept {
  const loop_values* const values = event_loop::current().values_;
  return values == nullptr ? nullptr : values->find(number_);
}

void loop_local_slot::keep(void* value, void (*destroy)(void*) noexcept) const {
  loop_values*& values = event_loop::current().values_;
  if (values == nullptr) values = new loop_values;
  values->add(number_, value, destroy);
}

}  // namespace gyre
