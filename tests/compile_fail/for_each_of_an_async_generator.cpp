// tests/compile_fail/for_each_of_an_async_generator.cpp: values that are waited for are no range.
// expect: while (auto* value = co_await generator.next())
#include <gyre/coro/async_generator.hpp>
#include <gyre/tasks/for_each_concurrent.hpp>

gyre::async_generator<int> numbers();
gyre::task<> caller() {
  co_await gyre::for_each_concurrent(numbers(), 3, [](int) -> gyre::task<> { co_return; });
}
