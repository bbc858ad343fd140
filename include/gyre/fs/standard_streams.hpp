// gyre/fs/standard_streams.hpp: the standard input and output of this program, and pipes, as files.
#pragma once

#include <gyre/fs/file.hpp>

namespace gyre::fs {

/// The standard input, for reading without blocking the loop. Each call returns a file of its own; closing it affects
/// no other user of the stream. A terminal or pipe is opened a second time, so that it does not become non-blocking for
/// the processes that share it. A socket does become non-blocking for them.
///
/// Errors: io_error "open standard input: Bad file descriptor". Thread: same as file.
[[nodiscard]] GYRE_API file standard_input();
/// The same for writing.
[[nodiscard]] GYRE_API file standard_output();
[[nodiscard]] GYRE_API file standard_error();

/// Both ends of a pipe inside this program.
struct pipe_files {
  file reader;
  file writer;
};

/// Makes a pipe. See gyre::open_pipe for ends that are passed to others. Errors: io_error. Thread: same as file.
[[nodiscard]] GYRE_API pipe_files open_pipe();

}  // namespace gyre::fs
