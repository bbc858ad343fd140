// tests/compile_fail/binding_the_results_of_a_gather.cpp: the results of a gather have members.
// expect: the results of a gather are not bound to names
#include <gyre/tasks/gather.hpp>

gyre::task<int> one() { co_return 1; }
gyre::task<int> both() {
  auto [a, b] = co_await gyre::gather(one(), one());
  co_return a + b;
}
