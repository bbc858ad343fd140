// tests/compile_fail/for_each_of_a_number.cpp: for_each_concurrent takes a range.
// expect: for_each_concurrent takes a range, such as a vector or a generator
#include <gyre/tasks/for_each_concurrent.hpp>

gyre::task<> caller() {
  co_await gyre::for_each_concurrent(10, 3, [](int) -> gyre::task<> { co_return; });
}
