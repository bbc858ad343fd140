// tests/compile_fail/iterating_an_async_generator.cpp: the values of an async_generator are awaited.
// expect: while (auto* value = co_await generator.next())
#include <gyre/coro/async_generator.hpp>

gyre::async_generator<int> numbers();
gyre::task<> caller() {
  for (int each : numbers()) (void)each;
  co_return;
}
