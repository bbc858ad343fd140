// tests/compile_fail/gathering_a_named_vector.cpp: gather takes tasks over.
// expect: gather takes the tasks over: gather(std::move(tasks))
#include <gyre/tasks/gather.hpp>

gyre::task<> caller(std::vector<gyre::task<int>> tasks) { (void)co_await gyre::gather(tasks); }
