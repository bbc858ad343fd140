// tests/compile_fail/tasks.cpp: what a task is, and what awaits one.
#include <gyre/gyre.hpp>

#include <optional>
#include <vector>

// case: as_expected_of_a_function: as_expected takes a task, and no function.
// expect: as_expected takes a task or an operation; call a function to get its task: as_expected(f())
gyre::task<int> fetch();
gyre::task<> caller() { (void)co_await gyre::as_expected(fetch); }

// case: as_expected_of_an_lvalue: the operation is moved into the await.
// expect: use as_expected(std::move(op))
gyre::task<> caller(gyre::tcp_stream& peer) {
  auto op = peer.receive();
  (void)co_await gyre::as_expected(op);
}

// case: as_result_of_a_function: as_result takes a task, and no function.
// expect: as_result takes a task or an operation; call a function to get its task: as_result(f())
gyre::task<int> fetch();
gyre::task<> caller() { (void)co_await gyre::as_result(fetch); }

// case: awaiting_an_lvalue_task: awaiting a task leaves nothing of it, so it has to be moved.
// expect: use std::move(t)
gyre::task<> work() { co_return; }
gyre::task<> caller() {
  auto later = work();
  co_await later;
}

// case: awaiting_an_over_aligned_item: coroutine frames have the alignment of the heap.
// expect: a coroutine cannot hold an over-aligned value
struct alignas(64) wide {
  int number = 0;
};
gyre::task<> take(gyre::queue<wide>& from) { (void)co_await from.get(); }

// case: discarded_sleep: a sleep that nobody awaits.
// expect: nodiscard
gyre::task<> caller() {
  gyre::sleep(std::chrono::seconds(1));
  co_return;
}

// case: discarded_task: a task that nobody awaits.
// expect: a task does nothing until it is awaited or spawned
gyre::task<> work() { co_return; }
gyre::task<> caller() {
  work();
  co_return;
}

// case: foreign_awaitable: an awaitable that might resume the task on another thread.
// expect: not a gyre awaitable
gyre::task<> caller() { co_await std::suspend_always{}; }

// case: iterating_an_async_generator: the values of an async_generator are awaited.
// expect: while (auto* value = co_await generator.next())
gyre::async_generator<int> numbers();
gyre::task<> caller() {
  for (int each : numbers()) (void)each;
  co_return;
}

// case: returning_what_converts_only_explicitly: co_return converts as return does.
// expect: return_value
gyre::task<bool> answer() { co_return std::optional<bool>(false); }

// case: setting_a_promise_to_what_converts_only_explicitly: set_value converts as return does.
// expect: set_value
void set(gyre::promise<std::vector<int>>& numbers) { numbers.set_value(5); }

// case: shield_of_a_plain_function: the function of a shield is a coroutine.
// expect: shield takes a task, an operation, or a function without parameters that returns a task
gyre::task<> caller() {
  co_await gyre::shield([] {});
}

// case: task_of_a_const_value: a task gives its value away.
// expect: a task<const T> could not give its value away: use task<T>
gyre::task<const int> number() { co_return 1; }

// case: task_of_an_rvalue_reference: a task gives a value or an lvalue reference.
// expect: would refer to what has ended
gyre::task<int&&> number() { co_return 1; }

// case: timeout_of_a_plain_function: a function that blocks cannot be cancelled.
// expect: a function that returns a task and takes nothing or a timeout_scope&
int blocks() { return 1; }
gyre::task<> caller() { co_await gyre::timeout(std::chrono::seconds(1), blocks); }

// case: unawaited_scoped_lock: the guard is what the await gives.
// expect: unused
gyre::task<> caller(gyre::mutex& mutex) {
  auto guard = mutex.scoped_lock();
  co_return;
}

// case: unawaited_task: a task with a name that nobody awaits.
// expect: unused variable
gyre::task<> work() { co_return; }
gyre::task<> caller() {
  auto t = work();
  co_return;
}
