// tests/compile_fail/returning_what_converts_only_explicitly.cpp: co_return converts as return does.
// expect: return_value
#include <gyre/coro/task.hpp>

#include <optional>

gyre::task<bool> answer() { co_return std::optional<bool>(false); }
