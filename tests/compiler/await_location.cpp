// tests/compiler/await_location.cpp: the default argument of await_transform is evaluated at the co_await.
#include <gyre/coro/call_stack.hpp>
#include <gyre/runtime/run.hpp>

#include <string_view>

namespace {
constexpr unsigned await_line = __LINE__ + 2;
gyre::task<int> check() {
  const auto stack = co_await gyre::call_stack();
  const std::source_location& here = stack[0];
  if (here.line() != await_line) co_return 1;
  if (std::string_view(here.function_name()).find("check") == std::string_view::npos) co_return 2;
  co_return std::string_view(here.file_name()).ends_with("await_location.cpp") ? 0 : 3;
}
}  // namespace

int main() { return gyre::run(check()); }
