// gyre/io/file_calls.hpp: the system calls on files and descriptors, as a table. For authors of operations and
// backends.
#pragma once

#include <cstddef>
#include <cstdint>

struct iovec;
struct open_how;
struct stat;
struct statx;

namespace gyre::io {

/// The calls of the operating system that concern files, paths and descriptors of any kind.
///
/// Each entry is the function or system call of its name, see section 2 of the manual: it has the same arguments, the
/// same result, and sets errno.
struct file_calls {
  int (*openat)(int directory, const char* path, int flags, unsigned mode);
  int (*openat2)(int directory, const char* path, const open_how* how, std::size_t size);
  int (*pipe2)(int* ends, int flags);
  int (*inotify_init1)(int flags);
  int (*epoll_create1)(int flags);
  int (*eventfd)(unsigned value, int flags);
  int (*io_uring_setup)(unsigned entries, void* parameters);
  int (*fcntl)(int fd, int command, long argument);
  int (*close)(int fd);

  std::ptrdiff_t (*read)(int fd, void* into, std::size_t size);
  std::ptrdiff_t (*write)(int fd, const void* bytes, std::size_t size);
  std::ptrdiff_t (*pread)(int fd, void* into, std::size_t size, std::int64_t offset);
  std::ptrdiff_t (*pwrite)(int fd, const void* bytes, std::size_t size, std::int64_t offset);
  std::ptrdiff_t (*readv)(int fd, const iovec* into, int count);
  std::ptrdiff_t (*writev)(int fd, const iovec* bytes, int count);
  std::ptrdiff_t (*preadv)(int fd, const iovec* into, int count, std::int64_t offset);
  std::ptrdiff_t (*pwritev)(int fd, const iovec* bytes, int count, std::int64_t offset);
  std::ptrdiff_t (*preadv2)(int fd, const iovec* into, int count, std::int64_t offset, int flags);
  std::ptrdiff_t (*pwritev2)(int fd, const iovec* bytes, int count, std::int64_t offset, int flags);
  std::ptrdiff_t (*sendfile)(int to, int from, std::int64_t* offset, std::size_t size);
  std::ptrdiff_t (*splice)(int from, std::int64_t* from_offset, int to, std::int64_t* to_offset, std::size_t size,
                           unsigned flags);
  std::ptrdiff_t (*copy_file_range)(int from, std::int64_t* from_offset, int to, std::int64_t* to_offset,
                                    std::size_t size, unsigned flags);
  int (*ficlone)(int to, int from);  ///< ioctl_ficlone(2)

  std::int64_t (*lseek)(int fd, std::int64_t offset, int from);
  int (*ftruncate)(int fd, std::int64_t size);
  int (*fsync)(int fd);
  int (*fdatasync)(int fd);
  int (*fchmod)(int fd, unsigned mode);
  int (*fstat)(int fd, struct stat* found);
  int (*fstatat)(int directory, const char* path, struct stat* found, int flags);
  int (*statx)(int directory, const char* path, int flags, unsigned mask, struct statx* found);

  int (*renameat2)(int from_directory, const char* from, int to_directory, const char* to, unsigned flags);
  int (*unlinkat)(int directory, const char* path, int flags);
  int (*mkdirat)(int directory, const char* path, unsigned mode);
  int (*symlinkat)(const char* target, int directory, const char* path);
  std::ptrdiff_t (*readlinkat)(int directory, const char* path, char* into, std::size_t size);
  std::ptrdiff_t (*getdents64)(int directory, void* into, std::size_t size);
  int (*inotify_add_watch)(int fd, const char* path, std::uint32_t events);
};

}  // namespace gyre::io
