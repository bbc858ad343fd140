// src/loop/operation.cpp: objects that are used without their loop.
#include <gyre/loop/operation.hpp>

#include <cstdio>
#include <cstdlib>

namespace gyre {

namespace {

// `sentence` says what is wrong with `name`, and the remedy.
event_loop& loop_or_stop(const char* name, const char* sentence) noexcept {
  event_loop* const loop = event_loop::current_or_null();
  if (loop != nullptr) [[likely]]
    return *loop;
  std::fprintf(stderr, "gyre: %s %s\n", name, sentence);
  std::abort();
}

}  // namespace

event_loop& loop_of(const char* object) noexcept {
  return loop_or_stop(
      object,
      "was made or destroyed without its loop: make it in the task that run() runs, and destroy or close "
      "it before that ends");
}

event_loop& loop_for(const char* operation) noexcept {
  return loop_or_stop(operation,
                      "was called on a thread without a loop: call it in a task, or hand the task to a loop with "
                      "run_coroutine_threadsafe(loop, task)");
}

void stop_on_other_loop(const char* operation, const char* object) noexcept {
  if (const event_loop* const loop = event_loop::current_or_null(); loop != nullptr && loop->is_of_parent()) return;
  std::fprintf(stderr,
               "gyre: %s on %s that belongs to the loop of another thread: use it in a task of its own loop, which "
               "run_coroutine_threadsafe starts from elsewhere\n",
               operation, object);
  std::abort();
}

}  // namespace gyre
