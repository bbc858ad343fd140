// tests/faults/failing_descriptors.cpp: wraps the functions of the C library that create descriptors.
#include "tests/faults/failing_descriptors.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace gyre_test::descriptors {
namespace {

std::atomic<long> left{0};  // calls until one fails; 0 means that none fails
std::atomic<int> reason{0};
std::atomic<bool> has_failed{false};
rlimit before{};
bool limited = false;
int fillers[256];
int filled = 0;

int highest_descriptor() {
  int highest = -1;
  DIR* const directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) throw std::runtime_error("cannot read /proc/self/fd");
  const int own = ::dirfd(directory);
  while (const dirent* const entry = ::readdir(directory))
    if (const int fd = std::atoi(entry->d_name); fd != own && fd > highest) highest = fd;
  ::closedir(directory);
  return highest;
}

}  // namespace

bool is_the_one() noexcept {
  long now = left.load();
  while (now > 0)
    if (left.compare_exchange_weak(now, now - 1)) break;
  if (now != 1) return false;
  has_failed = true;
  errno = reason;
  return true;
}

void fail_nth(long n, int error) noexcept {
  has_failed = false;
  reason = error;
  left = n;
}

// RLIMIT_NOFILE limits the number of a descriptor, not the count, so the holes below it are filled first.
void limit_to(long more) {
  has_failed = false;
  const int highest = highest_descriptor();
  int fd = ::dup(STDERR_FILENO);
  for (; fd < highest && filled < static_cast<int>(std::size(fillers)); fd = ::dup(STDERR_FILENO))
    fillers[filled++] = fd;
  if (fd > highest) ::close(fd);
  if (::getrlimit(RLIMIT_NOFILE, &before) < 0) throw std::runtime_error("getrlimit");
  rlimit now = before;
  now.rlim_cur = static_cast<rlim_t>(highest + 1 + more);
  if (::setrlimit(RLIMIT_NOFILE, &now) < 0) throw std::runtime_error("setrlimit");
  limited = true;
}

bool stop_failing() noexcept {
  left = 0;
  if (std::exchange(limited, false)) ::setrlimit(RLIMIT_NOFILE, &before);
  while (filled > 0) ::close(fillers[--filled]);
  return has_failed;
}

}  // namespace gyre_test::descriptors

// The linker prefers these to the functions of the C library, for the library and for this program.
namespace {

using gyre_test::descriptors::is_the_one;

template <class F>
F* next(const char* name) noexcept {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

bool makes_descriptor(long number) noexcept {
  switch (number) {
    case SYS_openat2:
    case SYS_pidfd_open:
    case SYS_io_uring_setup:
    case SYS_memfd_create:
    case SYS_pidfd_getfd:
      return true;
    default:
      return false;
  }
}

}  // namespace

extern "C" {

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,cert-dcl50-cpp)
int socket(int a, int b, int c) noexcept {
  static auto* const real = next<int(int, int, int)>("socket");
  return is_the_one() ? -1 : real(a, b, c);
}
int socketpair(int a, int b, int c, int* d) noexcept {
  static auto* const real = next<int(int, int, int, int*)>("socketpair");
  return is_the_one() ? -1 : real(a, b, c, d);
}
int accept4(int a, sockaddr* b, socklen_t* c, int d) {
  static auto* const real = next<int(int, sockaddr*, socklen_t*, int)>("accept4");
  return is_the_one() ? -1 : real(a, b, c, d);
}
int pipe2(int* a, int b) noexcept {
  static auto* const real = next<int(int*, int)>("pipe2");
  return is_the_one() ? -1 : real(a, b);
}
int eventfd(unsigned a, int b) noexcept {
  static auto* const real = next<int(unsigned, int)>("eventfd");
  return is_the_one() ? -1 : real(a, b);
}
int epoll_create1(int a) noexcept {
  static auto* const real = next<int(int)>("epoll_create1");
  return is_the_one() ? -1 : real(a);
}
int inotify_init1(int a) noexcept {
  static auto* const real = next<int(int)>("inotify_init1");
  return is_the_one() ? -1 : real(a);
}
int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return is_the_one() ? -1 : real(path, flags, mode);
}
int openat(int at, const char* path, int flags, ...) {
  static auto* const real = next<int(int, const char*, int, ...)>("openat");
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return is_the_one() ? -1 : real(at, path, flags, mode);
}
int fcntl(int fd, int command, ...) {
  static auto* const real = next<int(int, int, ...)>("fcntl");
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  if ((command == F_DUPFD_CLOEXEC || command == F_DUPFD) && is_the_one()) return -1;
  return real(fd, command, argument);
}
long syscall(long number, ...) noexcept {
  static auto* const real = next<long(long, ...)>("syscall");
  va_list rest;
  va_start(rest, number);
  long a[6];
  for (long& each : a) each = va_arg(rest, long);
  va_end(rest);
  if (makes_descriptor(number) && is_the_one()) return -1;
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name,cert-dcl50-cpp)

}  // extern "C"
