// gyre/testing/run_test.hpp: runs a test body on virtual time and ends every hang.
#pragma once

#include <gyre/loop/event_loop.hpp>
#include <gyre/tasks/spawn.hpp>
#include <gyre/testing/watchdog.hpp>

#include <chrono>
#include <source_location>
#include <stdexcept>
#include <utility>

namespace gyre::testing {

struct test_options {
  loop_options loop{.backend = {}, .virtual_time = true};
  std::chrono::milliseconds limit = std::chrono::seconds(60);  ///< of wall time, see watchdog
};

/// Runs `body` on a new loop on this thread, on virtual time, and returns its value or throws its exception. Tasks that
/// it leaves behind are cancelled and awaited. Time-outs and sleeps in it last as long as asked, but take no real time.
///
/// Errors: std::runtime_error when `body` has not ended after `limit`.
template <class T>
T run_test(task<T> body, const test_options& options = {},
           std::source_location where = std::source_location::current()) {
  event_loop loop(options.loop);
  task_handle<T> handle = spawn(std::move(body), {.name = "test"}, where);
  {
    const watchdog dog(handle.state(), options.limit);
    while (!handle.done()) loop.turn(true);
    loop.shutdown();
    if (dog.has_barked()) throw std::runtime_error("the test did not end; standard error says where it waited");
  }
  return handle.result();
}
template <class F>
  requires task_function<F>
decltype(auto) run_test(F body, const test_options& options = {},
                        std::source_location where = std::source_location::current()) {
  return run_test(call_in_frame(std::move(body)), options, where);
}

}  // namespace gyre::testing
