// src/coro/call_stack.cpp: collects and prints the chain of awaiting coroutines.
#include <gyre/coro/call_stack.hpp>
#include <gyre/coro/function_name.hpp>

#include <utility>

namespace gyre {

call_stack_trace::call_stack_trace(const frame_base* innermost) {
  std::size_t depth = 0;
  for (const frame_base* frame = innermost; frame != nullptr; frame = frame->caller) ++depth;
  if (depth == 0) return;
  entries_ = new std::source_location[depth];
  for (const frame_base* frame = innermost; frame != nullptr; frame = frame->caller) entries_[size_++] = frame->where;
}

call_stack_trace::call_stack_trace(call_stack_trace&& other) noexcept
    : entries_(std::exchange(other.entries_, nullptr)), size_(std::exchange(other.size_, 0)) {}

call_stack_trace& call_stack_trace::operator=(call_stack_trace&& other) noexcept {
  std::swap(entries_, other.entries_);
  std::swap(size_, other.size_);
  return *this;
}

call_stack_trace::~call_stack_trace() { delete[] entries_; }

void print_call_stack(const call_stack_trace& stack, std::FILE* out) {
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const std::source_location& at = stack[i];
    const short_function_name name(at.function_name());
    std::fprintf(out, "[%zu] %s  %s:%u\n", i, name.c_str(), at.file_name(), static_cast<unsigned>(at.line()));
  }
}

}  // namespace gyre
