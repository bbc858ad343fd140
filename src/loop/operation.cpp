// src/loop/operation.cpp: errors of operations, and of objects that are used without their loop.
#include <gyre/loop/operation.hpp>

#include <cerrno>

namespace gyre {

std::error_code operation_base::error_of(int result) const {
  if (result == -ECANCELED && scope_cancelled()) throw_cancelled();
  return {-result, std::generic_category()};
}

event_loop& loop_of(const char* object) noexcept {
  event_loop* const loop = event_loop::current_or_null();
  if (loop != nullptr) [[likely]]
    return *loop;
  misuse(
      "%s was made or destroyed without its loop: make it in the task that run() runs, and destroy or "
      "close it before that ends",
      object);
}

void stop_without_loop(const char* operation) noexcept {
  misuse(
      "%s was called on a thread without a loop: call it in a task, or hand the task to a loop with "
      "run_coroutine_threadsafe(loop, task)",
      operation);
}

void stop_on_other_loop(const char* operation, const char* object) noexcept {
  if (const event_loop* const loop = event_loop::current_or_null(); loop != nullptr && loop->is_of_parent()) return;
  misuse("%s on %s that belongs to the loop of another thread: use it in a task of its own loop, by %s", operation,
         object,
         event_loop::current_or_null() != nullptr ? "co_await on(loop, f)" : "run_coroutine_threadsafe(loop, task)");
}

void stop_destroyed_elsewhere(const char* object) noexcept {
  if (event_loop::current().takes_objects_of_parent()) return;
  misuse(
      "%s was destroyed on the thread of another loop: destroy it in a task of its own loop, or move it into a "
      "function "
      "that is passed to post() of that loop",
      object);
}

namespace {
// The scope of the loop that it is below. Null when it is below none. Asks the first task above, because tasks and
// scopes nest deeper than each check can walk.
const cancel_scope* top_of(const cancel_scope* scope) noexcept {
  for (; scope != nullptr && scope->parent() != nullptr; scope = scope->parent())
    if (const task_context* const task = scope->task(); task != nullptr && task->kind != nullptr)
      return task->kind->top_scope(*task);
  return scope;
}
}  // namespace

void expect_scope_on_own_loop(const cancel_scope& scope, const char* operation, const char* object) noexcept {
  const event_loop* const here = event_loop::current_or_null();
  if (here == nullptr || top_of(&scope) != &here->root_scope()) stop_on_other_loop(operation, object);
}

void check_woken_on_own_loop(const task_context& task) noexcept {
  const event_loop& here = event_loop::current();
  const cancel_scope* const top = top_of(task.scope);
  if (top == nullptr || top == &here.root_scope() || here.is_of_parent()) return;
  const task_description about = task.kind != nullptr ? task.kind->describe(task) : task_description{};
  const bool has_name = about.name_length > 0;
  const std::source_location place = task.innermost != nullptr ? task.innermost->where : std::source_location();
  misuse(
      "task %.*s, which waits at %s:%u, was woken by the thread of another loop: use a shared type "
      "(shared_channel) between loops, or call post on its loop",
      has_name ? static_cast<int>(about.name_length) : 9, has_name ? about.name : "(no name)", place.file_name(),
      place.line());
}

}  // namespace gyre
