// tests/compile_fail/calling_back_with_what_converts_only_explicitly.cpp: done(value) converts as return does.
// expect: awaited_callback
#include <gyre/tasks/from_callback.hpp>

#include <vector>

void call(const gyre::awaited_callback<std::vector<int>>& done) { done(5); }
