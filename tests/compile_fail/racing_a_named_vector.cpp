// tests/compile_fail/racing_a_named_vector.cpp: race takes tasks over.
// expect: race takes the tasks over: race(std::move(tasks))
#include <gyre/tasks/race.hpp>

gyre::task<> caller(std::vector<gyre::task<int>> tasks) { (void)co_await gyre::race(tasks); }
