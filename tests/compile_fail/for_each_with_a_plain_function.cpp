// tests/compile_fail/for_each_with_a_plain_function.cpp: the function of for_each_concurrent is a coroutine.
// expect: for_each_concurrent takes a function that is called with an element and returns a task
#include <gyre/tasks/for_each_concurrent.hpp>

gyre::task<> caller(std::vector<int> numbers) {
  co_await gyre::for_each_concurrent(numbers, 3, [](int) {});
}
