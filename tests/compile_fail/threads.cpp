// tests/compile_fail/threads.cpp: calls on other threads and loops, and callbacks.
#include <gyre/gyre.hpp>

#include <vector>

// case: calling_back_with_what_converts_only_explicitly: done(value) converts as return does.
// expect: awaited_callback
void call(const gyre::awaited_callback<std::vector<int>>& done) { done(5); }

// case: from_callback_without_done: from_callback hands the callback to its function.
// expect: from_callback calls its function with the callback: from_callback<T>([&](auto done) { ... })
gyre::task<> caller() {
  (void)co_await gyre::from_callback<int>([] {});
}

// case: operation_on_another_loop: an operation that a function returns would never be awaited.
// expect: as_task(operation)
gyre::task<> caller(gyre::event_loop& loop) {
  (void)co_await gyre::on(loop, [] { return gyre::sleep(std::chrono::seconds(1)); });
}

// case: to_thread_for_an_rvalue_reference: to_thread gives a value or an lvalue reference.
// expect: to_thread gives a value or an lvalue reference: return a copy
int&& number();
gyre::task<> caller() { (void)co_await gyre::to_thread(number); }

// case: to_thread_of_a_coroutine: a task made on a thread would run nowhere.
// expect: to_thread takes a function that blocks, not a coroutine: the task that it returns would never run
gyre::task<> work() { co_return; }
gyre::task<> caller() { co_await gyre::to_thread(work); }

// case: to_thread_of_a_function_with_parameters: to_thread takes a function without parameters.
// expect: to_thread takes a function without parameters: to_thread([&] { return f(argument); })
int twice(int number);
gyre::task<> caller() { (void)co_await gyre::to_thread(twice); }

// case: to_thread_with_an_argument: to_thread takes no arguments for the function.
// expect: to_thread takes a function without parameters: to_thread([&] { return f(argument); })
int twice(int number);
gyre::task<> caller() { (void)co_await gyre::to_thread(twice, 3); }
