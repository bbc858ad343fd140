// gyre/interop/service_thread.hpp: a thread that runs the loop of another library.
#pragma once

#include <gyre/attributes.hpp>

namespace gyre {

/// Calls one function on a thread of its own. The thread takes no signals; they go to the program's threads.
class GYRE_API service_thread {
 public:
  /// Errors: std::system_error when no thread can be started.
  service_thread(void (*function)(void*), void* argument);
  /// Waits for the function, unless `join` already has.
  ~service_thread();
  service_thread& operator=(service_thread&&) = delete;

  /// Blocks until the function has returned. Idempotent. Thread: the one that made it.
  void join() noexcept;

 private:
  struct state;
  state* state_;
};

}  // namespace gyre
