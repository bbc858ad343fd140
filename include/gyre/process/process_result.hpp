// gyre/process/process_result.hpp: the output and the status of a process that ended or exceeded its time limit.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/process/exit_status.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace gyre {

/// The output and the status of a process. asyncio: the result of communicate, and returncode.
struct process_result {
  exit_status status;
  std::string output;
  std::string error;
  /// Another process still holds a pipe of this one open, and may still write to it. `output` and `error` contain
  /// everything that was written until process_options::pipe_limit or the time limit.
  bool pipes_left_open = false;
};

class kept_result;

/// A process did not end within process_options::time_limit, and was killed: "communicate sleep: timed out after 2 s".
/// The code is equal to std::errc::timed_out. subprocess: TimeoutExpired.
class GYRE_API process_timed_out : public timed_out {
 public:
  /// Errors: std::bad_alloc.
  process_timed_out(std::chrono::nanoseconds limit, std::string_view subject, process_result result);
  process_timed_out(const process_timed_out& other) noexcept;
  process_timed_out& operator=(const process_timed_out& other) noexcept;
  ~process_timed_out() override;

  /// The output until the process was killed, and its status: usually SIGKILL, or an exit code when only other
  /// processes held its pipes open. The status is unknown when this program may not kill the process, which then
  /// continues to run.
  [[nodiscard]] const process_result& result() const noexcept;

 private:
  kept_result* kept_;  // shared by the copies
};

}  // namespace gyre
