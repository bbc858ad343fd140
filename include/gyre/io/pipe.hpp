// gyre/io/pipe.hpp: both ends of a new pipe, as descriptors. pipe(7).
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/owned_fd.hpp>

namespace gyre {

/// Blocking and close-on-exec, to be passed to child processes and threads.
struct pipe_descriptors {
  owned_fd reader;
  owned_fd writer;
};

/// Errors: io_error "open_pipe: Too many open files". Thread: any.
[[nodiscard]] GYRE_API pipe_descriptors open_pipe();

}  // namespace gyre
