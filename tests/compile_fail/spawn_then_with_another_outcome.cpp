// tests/compile_fail/spawn_then_with_another_outcome.cpp: the function that spawn_then calls at the end takes the
// outcome.
// expect: spawn_then calls done(std::expected<T, std::exception_ptr>)
#include <gyre/tasks/spawn_then.hpp>

gyre::task<int> fetch();
void caller() {
  gyre::spawn_then(fetch(), [](int) {});
}
