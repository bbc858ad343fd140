// src/process/captured_output.hpp: collects the output that a child writes to a pipe.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/fs/file.hpp>

#include <cstddef>
#include <string>

namespace gyre {

/// Lifetime: the file must outlive it.
class captured_output {
 public:
  captured_output(fs::file& from, std::size_t limit) noexcept : from_(from), limit_(limit), at_end_(!from.is_open()) {}

  /// Reads to the end.
  /// Cancel: no byte is lost, and listen() can be called again. Errors: io_error;
  /// std::errc::file_too_large beyond the limit.
  task<> listen();
  /// Reads the pipe's contents, and its end if that is there, without waiting. Errors: same as listen().
  void take_what_is_there();

  /// True if all processes have closed their end, and everything was read.
  [[nodiscard]] bool at_end() const noexcept { return at_end_; }
  std::string text;

 private:
  void stop_beyond_limit() const;

  fs::file& from_;
  std::size_t limit_;
  bool at_end_;
};

}  // namespace gyre
