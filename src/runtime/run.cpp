// src/runtime/run.cpp: runs a main task to its end, and computes the exit code.
#include <gyre/coro/cancelled.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/runtime/run.hpp>

#include "termination_watch.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <stdexcept>

namespace gyre {
namespace {

// A server with 10,000 connections should work without a change of ulimit.
void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Otherwise a connection or a file could get the number of standard error, and then the messages. Reading and writing a
// directory fails, as with a stream that is closed.
void reserve_standard_streams() noexcept {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF) ::open("/", O_RDONLY | O_DIRECTORY);
}

int report_failure() noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    print_diagnostic({"error: ", error.what()});
  } catch (const cancelled&) {
    print_diagnostic({"error: the main task was cancelled"});
  } catch (...) {  // the program ends: there is nobody to rethrow it to
    print_diagnostic({"error: exception of unknown type"});
  }
  return 1;
}

template <class T>
int run_to_exit_code(task<T> main, const run_options& options, std::source_location where) {
  int code = 0;
  try {
    reserve_standard_streams();
    raise_descriptor_limit();
    run_options chosen = options;
    chosen.handle_signals = options.handle_signals.value_or(true);
    run_scope here(chosen);
    task_handle<T> handle = spawn(std::move(main), {.name = "main"}, where);
    here.run_to_end(handle.state());
    int result = 0;
    if constexpr (!std::is_void_v<T>)
      if (!handle.state().failure()) result = handle.result();
    handle.state().destroy_frame();
    here.shutdown();
    code = here.code_after(handle.state());
    if (code != 0 && handle.state().was_cancelled()) return code;
    if (std::is_void_v<T> || handle.state().failure()) handle.result();  // throws the exception that left the task
    return code != 0 ? code : result;
  } catch (...) {  // the program ends: reported, not rethrown
    const int failed = report_failure();
    return code != 0 ? code : failed;
  }
}

}  // namespace

run_scope::run_scope(const run_options& options)
    : loop_(options.loop), cores_(loop_, {.threads = options.threads, .loop = options.loop, .pin = options.pin}) {
  if (options.after_drain < std::chrono::nanoseconds::zero())
    throw std::invalid_argument("run: after_drain is negative; 0 cancels the program once its servers have drained");
  if (options.after_cancel < std::chrono::nanoseconds::zero())
    throw std::invalid_argument("run: after_cancel is negative; 0 ends the process with the cancel");
  if (options.handle_signals.value_or(false))
    signals_ = new termination_watch(loop_, options.after_drain, options.after_cancel);
}

run_scope::~run_scope() {
  loop_.shutdown();
  delete signals_;
}

void run_scope::run_to_end(task_state& task) {
  if (signals_ != nullptr) signals_->set_main(&task);
  while (!task.done()) loop_.turn(true);
  if (signals_ != nullptr) signals_->set_main(nullptr);
}

void run_scope::shutdown() noexcept { loop_.shutdown(); }

int run_scope::code_after(const task_state& main) const noexcept {
  return signals_ != nullptr ? signals_->code_after(main) : 0;
}

int run_main(task<int> main, const run_options& options, std::source_location where) {
  return run_to_exit_code(std::move(main), options, where);
}
int run_main(task<void> main, const run_options& options, std::source_location where) {
  return run_to_exit_code(std::move(main), options, where);
}

}  // namespace gyre
