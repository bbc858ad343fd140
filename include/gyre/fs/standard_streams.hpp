// gyre/fs/standard_streams.hpp: the standard input and output of this program, and pipes, as files.
#pragma once

#include <gyre/fs/file.hpp>

namespace gyre::fs {

/// The standard input, for reading without blocking the loop. Each call gives a file of its own, whose end closes nothing
/// that others use. A terminal or pipe is opened a second time, so that the processes that share it do not find it
/// non-blocking; a socket they do.
///
/// Errors: io_error "open standard input: Bad file descriptor". Thread: as file.
[[nodiscard]] GYRE_API file standard_input();
/// The same for writing.
[[nodiscard]] GYRE_API file standard_output();
[[nodiscard]] GYRE_API file standard_error();

/// Both ends of a pipe inside this program.
struct pipe_files {
  file reader;
  file writer;
};

/// See gyre::open_pipe for ends that are handed to others. Errors: io_error. Thread: as file.
[[nodiscard]] GYRE_API pipe_files open_pipe();

}  // namespace gyre::fs
