// tests/compile_fail/setting_a_promise_to_what_converts_only_explicitly.cpp: set_value converts as return does.
// expect: set_value
#include <gyre/sync/future.hpp>

#include <vector>

void set(gyre::promise<std::vector<int>>& numbers) { numbers.set_value(5); }
