// src/loop/waiting_tasks.cpp: walks the tree of scopes, in which every task has its own scope.
#include <gyre/coro/cancel_scope.hpp>
#include <gyre/coro/function_name.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/loop/waiting_tasks.hpp>

#include <cstdarg>

namespace gyre {

namespace {

[[gnu::format(printf, 2, 3)]] void print_line(std::FILE* out, const char* format, ...) noexcept {
  char line[1024];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  if (out == stderr)  // whose reader may be gone, or stuck
    print_diagnostic({line});
  else
    std::fprintf(out, "%s\n", line);
}

// Allocates nothing: the program may be about to end for lack of memory.
void print_task(const task_context& task, std::FILE* out) noexcept {
  const task_description about = task.kind->describe(task);
  const bool has_name = about.name_length > 0;
  print_line(out, "  %.*s, spawned at %s:%u, waits at", has_name ? static_cast<int>(about.name_length) : 9,
             has_name ? about.name : "(no name)", about.spawned_at.file_name(), about.spawned_at.line());
  for (const frame_base* frame = task.innermost; frame != nullptr; frame = frame->caller) {
    const short_function_name name(frame->where.function_name());
    print_line(out, "    %s  %s:%u", name.c_str(), frame->where.file_name(), frame->where.line());
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
  constexpr std::size_t max_printed = 20;
  std::size_t count = 0;
  for (const cancel_scope* each = next_in_tree(&root, root); each != nullptr; each = next_in_tree(each, root)) {
    const task_context* const task = each->task();
    const bool is_first_of_task = task != nullptr && (each->parent() == nullptr || each->parent()->task() != task);
    if (!is_first_of_task || task->kind == nullptr) continue;
    if (++count <= max_printed) print_task(*task, out);
  }
  if (count > max_printed) print_line(out, "  and %zu more", count - max_printed);
  return count;
}

}  // namespace gyre
