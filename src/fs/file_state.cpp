// src/fs/file_state.cpp: the life of an open file.
#include <gyre/fs/file_state.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace gyre::fs {
namespace {

constinit operation_base nobody_uses;

// Asks only for cached attributes, so that no file server is contacted. Returns an errno. Objects that are
// not files (inotify) have type 0.
int find_type(int fd, unsigned& type) noexcept {
  struct statx found{};
  struct stat asked{};
  if (io::files().statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &found) == 0)
    type = found.stx_mode & unsigned{S_IFMT};
  else if (io::files().fstat(fd, &asked) == 0)  // where a filter denies statx
    type = asked.st_mode & unsigned{S_IFMT};
  else
    return errno;
  return 0;
}

}  // namespace

// Not constinit: clang cannot construct a std::string of libstdc++ 12 at compile time.
file_state file_state::closed(nobody_uses);

file_state& file_state::adopt(int number, std::string_view path) {
  file_state* state = nullptr;
  try {
    state = new file_state(path);
  } catch (...) {
    io::files().close(number);
    throw;
  }
  state->fd = number;
  if (const event_loop* const here = event_loop::current_or_null(); here != nullptr) state->loop = here->number();
  if (const int error = state->classify(); error != 0) {
    io::files().close(number);
    delete state;
    throw io_error({error, std::generic_category()}, "open", path);
  }
  return *state;
}

// Returns an errno.
int file_state::classify() noexcept {
  unsigned type = 0;
  if (const int error = find_type(fd, type); error != 0) return error;
  waits = type != S_IFREG && type != S_IFDIR && type != S_IFBLK;
  seekable = io::files().lseek(fd, 0, SEEK_CUR) >= 0;
  // On a non-blocking file a ring fails at once instead of waiting for the disk.
  const int flags = io::files().fcntl(fd, F_GETFL, 0);
  // Direct and synchronous I/O waits for the disk even with RWF_NOWAIT.
  reads_now = (type == S_IFREG || type == S_IFBLK) && (flags & O_DIRECT) == 0;
  writes_now = reads_now && (flags & (O_SYNC | O_DSYNC)) == 0;
  const int wanted = waits ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  return flags < 0 || (wanted != flags && io::files().fcntl(fd, F_SETFL, wanted) < 0) ? errno : 0;
}

// The backend of a loop that has ended is gone, and so is what it kept about the descriptor.
void file_state::change_loop(const char* operation) noexcept {
  if (loop != 0 && event_loop::exists(loop)) return stop_on_other_loop(operation, "a file");
  attached = false;
  loop = event_loop::current().number();
}

void file_state::release() noexcept {
  if (in_flight > 0 || reader != nullptr || writer != nullptr)
    misuse(
        "a file was closed or destroyed while another task reads from it or writes to it: cancel and await that task "
        "first");
  event_loop& running = loop_of("a file");
  if (loop != running.number() && loop != 0 && event_loop::exists(loop)) stop_destroyed_elsewhere("a file");
  if (loop == running.number()) running.backend().detach(*this);
  io::files().close(fd);
  forget();
}

}  // namespace gyre::fs
