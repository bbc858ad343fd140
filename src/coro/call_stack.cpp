// src/coro/call_stack.cpp: collecting and printing the chain of awaiting coroutines.
#include <gyre/coro/call_stack.hpp>

#include <cstring>
#include <string_view>
#include <utility>

namespace gyre {
namespace {

// "gyre::task<int> ns::factorial(int)" -> "ns::factorial": what a reader looks for.
std::string_view short_function_name(std::string_view pretty) {
  std::size_t end = pretty.find('(');
  if (end == std::string_view::npos) return pretty;
  // A lambda's name contains its own brackets: "main()::(anonymous class)::operator()() const".
  if (const std::size_t call = pretty.find("operator()"); call != std::string_view::npos)
    end = call + std::strlen("operator()");
  else if (const std::size_t anonymous = pretty.find("(anonymous"); anonymous == end)
    end = pretty.find('(', pretty.find(')') + 1);
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < end; ++i) {
    if (pretty[i] == '<') ++depth;
    if (pretty[i] == '>') --depth;
    if (pretty[i] == ' ' && depth == 0) begin = i + 1;
  }
  return pretty.substr(begin, end - begin);
}

}  // namespace

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
    const std::string_view name = short_function_name(at.function_name());
    std::fprintf(out, "[%zu] %.*s  %s:%u\n", i, static_cast<int>(name.size()), name.data(), at.file_name(),
                 static_cast<unsigned>(at.line()));
  }
}

}  // namespace gyre
