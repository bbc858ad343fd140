// tests/compile_fail/spawning.cpp: what runs a task.
#include <gyre/gyre.hpp>

// case: discarded_spawn: a background task by accident.
// expect: say so with detach()
gyre::task<> work() { co_return; }
gyre::task<> caller() {
  gyre::spawn(work());
  co_return;
}

// case: run_main_of_a_plain_function: main is a coroutine.
// expect: a function without parameters that returns one
int serve() { return 1; }
int main() { return gyre::run_main(serve); }

// case: running_a_named_task: running a task consumes it.
// expect: pass std::move(t)
gyre::task<> work() { co_return; }
int main() {
  auto main_task = work();
  gyre::run(main_task);
}

// case: running_a_plain_function: run takes what gives a task.
// expect: run takes a task, moved, or a function without parameters that returns one
int main() {
  gyre::run([](int) {});
}

// case: shared_task_of_a_plain_function: a shared_task is made of a task.
// expect: shared_task takes a task, or a function without parameters that returns one
void caller() {
  gyre::shared_task<int> number([] { return 1; });
}

// case: spawn_then_of_a_plain_function: spawn_then runs a coroutine.
// expect: spawn_then takes a task, or a function without parameters that returns one
void caller() {
  gyre::spawn_then([] { return 1; }, [](auto&&) {});
}

// case: spawn_then_with_another_outcome: the function that spawn_then calls at the end takes the outcome.
// expect: spawn_then calls done(std::expected<T, std::exception_ptr>)
gyre::task<int> fetch();
void caller() {
  gyre::spawn_then(fetch(), [](int) {});
}

// case: spawning_a_named_task: a task that has a name has to be moved.
// expect: pass std::move(t)
gyre::task<> work() { co_return; }
gyre::task<> caller() {
  auto t = work();
  auto handle = gyre::spawn(t);
  co_await handle;
}

// case: spawning_an_operation: an operation is not a task.
// expect: as_task makes a task of an operation
gyre::task<> caller() {
  auto handle = gyre::spawn(gyre::sleep(std::chrono::seconds(1)));
  co_return;
}
