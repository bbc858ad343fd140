// tests/compile_fail/for_each_with_another_element.cpp: the function of for_each_concurrent takes the elements of the
// range.
// expect: for_each_concurrent takes a function that is called with an element and returns a task
#include <gyre/tasks/for_each_concurrent.hpp>

struct other {};
gyre::task<> caller(std::vector<int> numbers) {
  co_await gyre::for_each_concurrent(numbers, 3, [](other) -> gyre::task<> { co_return; });
}
