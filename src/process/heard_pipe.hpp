// src/process/heard_pipe.hpp: the text that comes out of a pipe of a child.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/fs/file.hpp>

#include <cstddef>
#include <string>

namespace gyre {

/// Lifetime: the file outlives it.
class heard_pipe {
 public:
  heard_pipe(fs::file& from, std::size_t limit) noexcept : from_(from), limit_(limit), at_end_(!from.is_open()) {}

  /// Reads to the end.
  /// Cancel: no byte is lost: it can be continued. Errors: io_error; std::errc::file_too_large beyond the limit.
  task<> listen();
  /// Reads what is in the pipe, and the end if it is there, without waiting. Errors: same as listen().
  void take_what_is_there();

  /// All processes have closed their end, and everything was read.
  [[nodiscard]] bool at_end() const noexcept { return at_end_; }
  std::string text;

 private:
  void stop_beyond_limit() const;

  fs::file& from_;
  std::size_t limit_;
  bool at_end_;
};

}  // namespace gyre
