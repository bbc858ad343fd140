// src/io/real_file_calls.hpp: the operating system's calls on files and descriptors.
#pragma once

#include <gyre/io/file_calls.hpp>
#include <gyre/io/uring/ring.hpp>

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace gyre::io {

inline constexpr file_calls real_file_calls{
    .openat = [](int directory, const char* path, int flags,
                 unsigned mode) { return ::openat(directory, path, flags, mode); },
    .openat2 = [](int directory, const char* path, const open_how* how,
                  std::size_t size) { return static_cast<int>(::syscall(SYS_openat2, directory, path, how, size)); },
    .pipe2 = ::pipe2,
    .inotify_init1 = ::inotify_init1,
    .epoll_create1 = ::epoll_create1,
    .eventfd = ::eventfd,
    .io_uring_setup = uring::setup,
    .fcntl = [](int fd, int command, long argument) { return ::fcntl(fd, command, argument); },
    .close = ::close,
    .read = ::read,
    .write = ::write,
    .pread = ::pread,
    .pwrite = ::pwrite,
    .readv = ::readv,
    .writev = ::writev,
    .preadv = ::preadv,
    .pwritev = ::pwritev,
    .preadv2 = ::preadv2,
    .pwritev2 = ::pwritev2,
    .sendfile = ::sendfile,
    .splice = ::splice,
    .copy_file_range = ::copy_file_range,
    .ficlone = [](int to, int from) { return ::ioctl(to, FICLONE, from); },
    .lseek = ::lseek,
    .ftruncate = ::ftruncate,
    .fsync = ::fsync,
    .fdatasync = ::fdatasync,
    .fchmod = ::fchmod,
    .fstat = ::fstat,
    .fstatat = ::fstatat,
    .statx = ::statx,
    .renameat2 = ::renameat2,
    .unlinkat = ::unlinkat,
    .mkdirat = ::mkdirat,
    .symlinkat = ::symlinkat,
    .readlinkat = ::readlinkat,
    .getdents64 = [](int directory, void* into, std::size_t size) -> std::ptrdiff_t {
      return ::syscall(SYS_getdents64, directory, into, size);
    },
    .inotify_add_watch = ::inotify_add_watch,
};

}  // namespace gyre::io
