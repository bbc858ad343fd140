// tests/compile_fail/several_tasks.cpp: what waits for several tasks.
#include <gyre/gyre.hpp>

// case: as_completed_of_tasks: as_completed takes handles.
// expect: as_completed takes handles of running tasks: spawn each task and keep its handle
gyre::task<> caller(std::vector<gyre::task<int>> tasks) {
  auto order = gyre::as_completed(tasks);
  (void)co_await order.next();
}

// case: binding_the_results_of_a_gather: the results of a gather have members.
// expect: the results of a gather are not bound to names
gyre::task<int> one() { co_return 1; }
gyre::task<int> both() {
  auto [a, b] = co_await gyre::gather(one(), one());
  co_return a + b;
}

// case: for_each_of_a_number: for_each_concurrent takes a range.
// expect: for_each_concurrent takes a range, such as a vector or a generator
gyre::task<> caller() {
  co_await gyre::for_each_concurrent(10, 3, [](int) -> gyre::task<> { co_return; });
}

// case: for_each_of_an_async_generator: values that are waited for are no range.
// expect: while (auto* value = co_await generator.next())
gyre::async_generator<int> numbers();
gyre::task<> caller() {
  co_await gyre::for_each_concurrent(numbers(), 3, [](int) -> gyre::task<> { co_return; });
}

// case: for_each_with_a_plain_function: the function of for_each_concurrent is a coroutine.
// expect: for_each_concurrent takes a function that is called with an element and returns a task
gyre::task<> caller(std::vector<int> numbers) {
  co_await gyre::for_each_concurrent(numbers, 3, [](int) {});
}

// case: for_each_with_another_element: the function of for_each_concurrent takes the elements of the range.
// expect: for_each_concurrent takes a function that is called with an element and returns a task
struct other {};
gyre::task<> caller(std::vector<int> numbers) {
  co_await gyre::for_each_concurrent(numbers, 3, [](other) -> gyre::task<> { co_return; });
}

// case: gathering_a_function: gather awaits, and calls nothing.
// expect: call a function to get its task
gyre::task<> work() { co_return; }
gyre::task<> caller() { co_await gyre::gather(work, work); }

// case: gathering_a_named_task: a task that has a name has to be moved.
// expect: pass std::move(t)
gyre::task<> work() { co_return; }
gyre::task<> caller() {
  auto t = work();
  co_await gyre::gather(t, work());
}

// case: gathering_a_named_vector: gather takes tasks over.
// expect: gather takes the tasks over: gather(std::move(tasks))
gyre::task<> caller(std::vector<gyre::task<int>> tasks) { (void)co_await gyre::gather(tasks); }

// case: racing_a_function: race awaits, and calls nothing.
// expect: call a function to get its task
gyre::task<> work() { co_return; }
gyre::task<> caller() { (void)co_await gyre::race(work, work); }

// case: racing_a_named_vector: race takes tasks over.
// expect: race takes the tasks over: race(std::move(tasks))
gyre::task<> caller(std::vector<gyre::task<int>> tasks) { (void)co_await gyre::race(tasks); }

// case: scope_of_a_plain_function: the body of a group is a coroutine.
// expect: a function of task_group& that returns a task<>
void body(gyre::task_group&) {}
gyre::task<> caller() { co_await gyre::task_group::scope(body); }

// case: spawning_in_a_group_what_takes_arguments: the group has no argument to give.
// expect: a function without parameters
gyre::task<> body(gyre::task_group& group) {
  (void)group.spawn([](int) -> gyre::task<> { co_return; });
  co_return;
}

// case: waiting_for_tasks: wait takes handles.
// expect: wait takes handles of running tasks: spawn each task and keep its handle
gyre::task<> caller(std::vector<gyre::task<int>> tasks) { (void)co_await gyre::wait(tasks); }
