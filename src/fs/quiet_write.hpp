// src/fs/quiet_write.hpp: writing without the signal that kills.
#pragma once

#include <sys/uio.h>
#include <unistd.h>

namespace gyre::fs {

/// pwritev2(2), but a pipe or socket that nobody reads gives EPIPE only, and no SIGPIPE.
[[nodiscard]] ssize_t write_without_signal(int fd, const iovec* buffers, int count, off_t offset) noexcept;

}  // namespace gyre::fs
