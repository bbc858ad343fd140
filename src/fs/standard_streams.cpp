// src/fs/standard_streams.cpp: opens the standard streams, which other processes share, as files.
#include <gyre/fs/standard_streams.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/io/pipe.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace gyre::fs {
namespace {

// O_NONBLOCK belongs to the open file description, which a duplicate shares and a second open does not. A file with a
// position must be shared, or each opening would begin at the start.
file open_again(int number, int access, const char* name) {
  struct stat found{};
  int fd = -1;
  if (io::files().fstat(number, &found) == 0 && (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode)))
    fd = io::files().openat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(number)).c_str(),
                            access | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
  if (fd < 0) fd = io::files().fcntl(number, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) throw io_error({errno, std::generic_category()}, "open", name);
  return file::from_fd(fd, name);
}

}  // namespace

file standard_input() { return open_again(STDIN_FILENO, O_RDONLY, "standard input"); }
file standard_output() { return open_again(STDOUT_FILENO, O_WRONLY, "standard output"); }
file standard_error() { return open_again(STDERR_FILENO, O_WRONLY, "standard error"); }

pipe_files open_pipe() {
  pipe_descriptors ends = gyre::open_pipe();
  file reader = file::from_fd(ends.reader.release(), "pipe");
  return {std::move(reader), file::from_fd(ends.writer.release(), "pipe")};
}

}  // namespace gyre::fs
