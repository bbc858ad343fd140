// src/loop/task_local.cpp: chains of bindings.
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/loop/task_local.hpp>

#include <atomic>
#include <utility>

namespace gyre {

task_context& task_local_binding::running_task() noexcept {
  event_loop* const loop = event_loop::current_or_null();
  if (loop == nullptr || loop->running_task() == nullptr) misuse("a task_local was bound outside of a task");
  return *loop->running_task();
}

namespace {

constinit thread_local task_local_binding* lent = nullptr;

}  // namespace

lent_bindings::lent_bindings(task_local_binding* chain) noexcept : before_(std::exchange(lent, chain)) {}
lent_bindings::~lent_bindings() { lent = before_; }

task_local_binding* task_local_binding::visible() noexcept {
  const event_loop* const loop = event_loop::current_or_null();
  return loop == nullptr || loop->running_task() == nullptr ? lent : loop->running_task()->locals;
}

task_local_binding* task_local_binding::find(const void* key) noexcept {
  for (task_local_binding* each = visible(); each != nullptr; each = each->outer)
    if (each->key == key) return each;
  return nullptr;
}

void task_local_binding::unbind(task_context& task, task_local_binding& innermost) noexcept {
  if (task.locals != &innermost)
    misuse("a binding of a task_local ended before one that was made after it; end them in the reverse order");
  task.locals = innermost.outer;
  --task.open;
  release(&innermost);
}

void task_local_binding::add_owner() noexcept { std::atomic_ref(references).fetch_add(1, std::memory_order_relaxed); }

void task_local_binding::drop_owner(task_local_binding* chain) noexcept {
  while (chain != nullptr && std::atomic_ref(chain->references).fetch_sub(1, std::memory_order_acq_rel) == 1) {
    task_local_binding* const outer = chain->outer;
    chain->destroy(*chain);
    chain = outer;
  }
}

}  // namespace gyre
