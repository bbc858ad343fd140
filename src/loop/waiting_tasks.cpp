// src/loop/waiting_tasks.cpp: walks the tree of scopes, in which every task has its own scope.
#include <gyre/coro/cancel_scope.hpp>
#include <gyre/coro/function_name.hpp>
#include <gyre/loop/waiting_tasks.hpp>

namespace gyre {

namespace {

// Allocates nothing: the program may be about to end for lack of memory.
void print_task(const task_context& task, std::FILE* out) noexcept {
  const task_description about = task.kind->describe(task);
  const bool has_name = about.name_length > 0;
  std::fprintf(out, "  %.*s, spawned at %s:%u, waits at\n", has_name ? static_cast<int>(about.name_length) : 9,
               has_name ? about.name : "(no name)", about.spawned_at.file_name(), about.spawned_at.line());
  for (const frame_base* frame = task.innermost; frame != nullptr; frame = frame->caller) {
    const short_function_name name(frame->where.function_name());
    std::fprintf(out, "    %s  %s:%u\n", name.c_str(), frame->where.file_name(), frame->where.line());
  }
}

// Depth first along the links, not recursive: tasks can be nested deeper than the stack allows.
const cancel_scope* next_in_tree(const cancel_scope* scope, const cancel_scope& root) noexcept {
  if (scope->first_child() != nullptr) return scope->first_child();
  for (; scope != &root; scope = scope->parent())
    if (scope->next_sibling() != nullptr) return scope->next_sibling();
  return nullptr;
}

}  // namespace

std::size_t print_waiting_tasks(const cancel_scope& root, std::FILE* out) noexcept {
  constexpr std::size_t most_printed = 20;
  std::size_t count = 0;
  for (const cancel_scope* each = next_in_tree(&root, root); each != nullptr; each = next_in_tree(each, root)) {
    const task_context* const task = each->task();
    const bool is_first_of_task = task != nullptr && (each->parent() == nullptr || each->parent()->task() != task);
    if (!is_first_of_task || task->kind == nullptr) continue;
    if (++count <= most_printed) print_task(*task, out);
  }
  if (count > most_printed) std::fprintf(out, "  and %zu more\n", count - most_printed);
  return count;
}

}  // namespace gyre
