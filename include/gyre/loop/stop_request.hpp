// gyre/loop/stop_request.hpp: asks the program to stop, and waits for such a request.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/loop/stop_observer.hpp>

#include <expected>
#include <system_error>

namespace gyre {

/// Asks the program to stop, as the first SIGTERM does under run_main: servers drain and return, stop_requested()
/// returns, and other code continues. A program that does not check for stop requests is cancelled. See run_options.
///
/// The request affects the whole process. It lasts until the run that handles signals has ended or, without such a run,
/// until the last loop of the process has ended. A server that starts meanwhile drains at once. Further calls have no
/// effect.
/// Thread: any, with or without a loop, but no signal handler.
GYRE_API void request_stop() noexcept;

/// The operation of stop_requested().
class GYRE_API [[nodiscard("co_await it")]] stop_requested_op : public operation<stop_requested_op>,
                                                                private stop_observer {
 public:
  stop_requested_op() noexcept = default;
  // Only before it has started, when there is nothing to move.
  stop_requested_op(stop_requested_op&& /*from*/) noexcept : stop_requested_op() {}
  stop_requested_op& operator=(stop_requested_op&&) = delete;
  ~stop_requested_op();

  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept;
  [[nodiscard]] std::expected<void, std::error_code> take_result() const;
  void await_resume() const {
    if (withdrawn_) [[unlikely]]
      throw_cancelled();
  }
  [[noreturn]] void fail(std::error_code reason) const;

 private:
  void on_level(stop_level level) noexcept;

  bool withdrawn_ = false;
};

/// Waits until the program is asked to stop, by SIGINT, SIGTERM or request_stop(). Returns at once when it has been
/// asked already. Any number of tasks may wait, on any loop.
///
/// A program in which a task has called this is not cancelled by the request, even if no task waits at that moment. It
/// must end on its own within run_options::after_drain.
/// Cancel: stops waiting. Errors: none.
[[nodiscard]] inline stop_requested_op stop_requested() noexcept { return {}; }

}  // namespace gyre
