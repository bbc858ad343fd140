// src/fs/copy.cpp: copies a file with the calls that let the kernel do it.
#include <gyre/fs/copy.hpp>
#include <gyre/fs/file.hpp>
#include <gyre/io/file_bytes.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/tasks/to_thread.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace gyre::fs {
namespace {

// These functions block. Results that are counts are -errno on failure.

constexpr std::size_t max_piece_size = std::size_t{16} << 20U;

long result_of(long returned) noexcept { return returned < 0 ? -errno : returned; }

// For file systems that cannot copy in the kernel, such as /proc.
long copy_through_memory(int from, int to, off_t position, std::size_t max_size) {
  constexpr std::size_t size = std::size_t{256} << 10U;
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(size);
  const long got = io::read_at(from, buffer.get(), std::min(size, max_size), static_cast<std::uint64_t>(position));
  for (long written = 0; written < got;) {
    const long n = result_of(
        io::files().pwrite(to, buffer.get() + written, static_cast<std::size_t>(got - written), position + written));
    if (n < 0) return n;
    written += n;
  }
  return got;
}

bool is_not_possible(long result) noexcept {
  return result == -EXDEV || result == -EINVAL || result == -ENOSYS || result == -EOPNOTSUPP || result == -EPERM;
}

long copy_in_kernel(int from, int to, off_t position, std::size_t max_size) {
  loff_t source = position;
  loff_t target = position;
  return result_of(io::files().copy_file_range(from, &source, to, &target, max_size, 0));
}

/// The state of a copy after a piece.
struct piece {
  off_t position = 0;  // all before it has been copied
  bool last = false;
  int error = 0;
};

// The size of the target, which may end with a hole.
piece end_at(int to, off_t size) {
  if (io::files().ftruncate(to, size) < 0) return {.position = size, .error = errno};
  return {.position = size, .last = true};
}

// Skips a hole, then copies data.
piece copy_piece(int from, int to, off_t position) {
  // The end is looked for first: data that others append in between is found, and never replaced by a hole.
  const off_t end = io::files().lseek(from, 0, SEEK_END);
  off_t data = io::files().lseek(from, position, SEEK_DATA);
  if (data < 0 && errno == ENXIO) return end_at(to, std::max(position, end));
  if (data < 0) data = position;  // the file system does not know holes
  const off_t hole = io::files().lseek(from, data, SEEK_HOLE);
  const auto max_size = hole > data ? std::min(max_piece_size, static_cast<std::size_t>(hole - data)) : max_piece_size;
  long copied = copy_in_kernel(from, to, data, max_size);
  // Some file systems report the end although they only could not copy: copy_file_range(2), BUGS.
  if (copied == 0 || is_not_possible(copied)) copied = copy_through_memory(from, to, data, max_size);
  if (copied == 0) return end_at(to, data);
  if (copied < 0) return {.position = data, .error = static_cast<int>(-copied)};
  return {.position = data + copied};
}

}  // namespace

task<std::uint64_t> copy(std::string from, std::string to, copy_options options) {
  const auto fail = [&](int reason) {
    throw io_error(std::error_code(reason, std::generic_category()), "copy", from + " to " + to);
  };
  file source = co_await file::open(from);
  struct stat known{};
  if (io::files().fstat(source.native_descriptor(), &known) < 0) fail(errno);
  if (S_ISDIR(known.st_mode)) fail(EISDIR);
  if (!S_ISREG(known.st_mode)) fail(EINVAL);
  // Not truncated: it may be the same file.
  const open_options how{.write = true,
                         .create = true,
                         .exclusive = options.exclusive,
                         .permissions = static_cast<std::uint32_t>(known.st_mode & 0777U)};
  file target = co_await file::open(to, how);
  struct stat other{};
  if (io::files().fstat(target.native_descriptor(), &other) < 0) fail(errno);
  if (!S_ISREG(other.st_mode) || (other.st_dev == known.st_dev && other.st_ino == known.st_ino)) fail(EINVAL);
  co_await target.resize(0);
  copy_progress ignored;
  copy_progress& progress = options.progress != nullptr ? *options.progress : ignored;
  progress = {.copied = 0, .size = static_cast<std::uint64_t>(known.st_size)};

  const int in = source.native_descriptor();
  const int out = target.native_descriptor();
  piece done;
  auto share = [&] {
    if (io::files().ficlone(out, in) == 0) done = {.position = io::files().lseek(out, 0, SEEK_END), .last = true};
  };
  co_await to_thread(io::blocking_pool::for_files(), share);
  auto next = [&] { done = copy_piece(in, out, done.position); };
  while (!done.last && done.error == 0) {
    co_await to_thread(io::blocking_pool::for_files(), next);
    progress.copied = static_cast<std::uint64_t>(done.position);
  }
  if (done.error != 0) fail(done.error);
  progress.copied = static_cast<std::uint64_t>(done.position);
  co_await target.close();
  co_return static_cast<std::uint64_t>(done.position);
}

}  // namespace gyre::fs
