// programs/common/abandonable_call.hpp: runs a function on a thread, and does not wait for it when it is cancelled.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/blocking_pool.hpp>
#include <gyre/tasks/from_callback.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace programs {

template <class F>
class abandonable_call final : private gyre::io::blocking_job {
 public:
  using result = std::invoke_result_t<F&>;

  static void begin(F function, const gyre::awaited_callback<result>& done) {
    gyre::io::blocking_pool::for_files().submit(*new abandonable_call(std::move(function), done));
  }

 private:
  abandonable_call(F function, const gyre::awaited_callback<result>& done)
      : function_(std::move(function)), done_(done) {
    run = [](gyre::io::blocking_job& job) noexcept {
      auto* const self = static_cast<abandonable_call*>(&job);
      try {
        self->done_(self->function_());
      } catch (...) {  // thrown where the call is awaited
        self->done_.fail(std::current_exception());
      }
      delete self;
    };
  }
  ~abandonable_call() = default;

  F function_;
  gyre::awaited_callback<result> done_;
};

/// Runs `function()` on a thread, and returns its result or throws its exception. For files of an administrator: the
/// server of a mount may be gone, and then the thread never returns.
///
/// Lifetime: `function` owns everything that it uses, because it may outlive the caller, and the loop.
/// Cancel: at once. The thread goes on, and its result is dropped. The process can end meanwhile.
template <class F>
gyre::task<std::invoke_result_t<F&>> call_abandonably(F function) {
  using result = std::invoke_result_t<F&>;
  auto begin = [&function](const gyre::awaited_callback<result>& done) {
    abandonable_call<F>::begin(std::move(function), done);
  };
  co_return co_await gyre::from_callback<result>(begin);
}

}  // namespace programs
