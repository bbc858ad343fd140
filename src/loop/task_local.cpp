// src/loop/task_local.cpp: chains of bindings.
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/loop/task_local.hpp>

namespace gyre {

task_context& task_local_binding::running_task() noexcept {
  event_loop* const loop = event_loop::current_or_null();
  if (loop == nullptr || loop->running_task() == nullptr) misuse("a task_local was bound outside of a task");
  return *loop->running_task();
}

task_local_binding* task_local_binding::find(const void* key) noexcept {
  const event_loop* const loop = event_loop::current_or_null();
  if (loop == nullptr || loop->running_task() == nullptr) return nullptr;
  for (task_local_binding* each = loop->running_task()->locals; each != nullptr; each = each->outer)
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

void task_local_binding::release(task_local_binding* chain) noexcept {
  while (chain != nullptr && --chain->references == 0) {
    task_local_binding* const outer = chain->outer;
    chain->destroy(*chain);
    chain = outer;
  }
}

}  // namespace gyre
