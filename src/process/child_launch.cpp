// src/process/child_launch.cpp: starts a child: what happens between clone and exec.
//
// The child shares the parent's memory, and the parent's thread waits until the child has become the program,
// as with vfork. Like vfork, it costs the same in a large process as in a small one. The child makes only
// system calls: it may hold no lock, run no handler, and leave no changes in memory. CMakeLists.txt therefore
// compiles this file without sanitizers.
#include "child_launch.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>

// The function behind clone(). The thread sanitizer replaces clone() by one that takes the child for a fork.
extern "C" [[gnu::weak]] int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace gyre {
namespace {

constexpr int first_to_close = 3;
constexpr std::size_t kernel_mask_size = 8;

struct launch {
  const child_plan* plan;
  int error;
};

// ---- in the child: each function returns an errno

int error_of(long answer) noexcept { return answer < 0 ? errno : 0; }

void reset_signals() noexcept {
  constexpr int signals = 64;
  const std::uint64_t by_default[8] = {};  // the kernel's struct sigaction, SIG_DFL and no flags
  for (int number = 1; number <= signals; ++number)
    ::syscall(SYS_rt_sigaction, number, by_default, nullptr, kernel_mask_size);
}

// A new session implies a new process group.
int leave_group(const child_plan& plan) noexcept {
  if (plan.new_session) return error_of(::syscall(SYS_setsid));
  return plan.own_group ? error_of(::syscall(SYS_setpgid, 0, 0)) : 0;
}

int put_streams(const child_plan& plan) noexcept {
  for (int number = 0; number < 3; ++number) {
    const int from = plan.streams[number];
    if (from >= 0 && ::syscall(SYS_dup3, from, number, 0) < 0) return errno;
  }
  return plan.error_to_output ? error_of(::syscall(SYS_dup3, STDOUT_FILENO, STDERR_FILENO, 0)) : 0;
}

// Returns the number in text such as "17", or -1.
int number_of(const char* text) noexcept {
  int number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + (*text - '0');
  return *text == '\0' ? number : -1;
}

// Used where close_range is missing or refused.
int close_listed() noexcept {
  const int list = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0));
  if (list < 0) return errno;
  struct entry {  // linux_dirent64
    std::uint64_t inode;
    std::int64_t next;
    std::uint16_t length;
    std::uint8_t type;
    char name[1];
  };
  alignas(entry) char entries[2048];
  long size = 0;
  while ((size = ::syscall(SYS_getdents64, list, entries, sizeof entries)) > 0)
    for (long at = 0; at < size;) {
      const auto* const each = reinterpret_cast<const entry*>(entries + at);
      const int fd = each->name[0] == '.' ? -1 : number_of(each->name);
      if (fd >= first_to_close && fd != list) ::syscall(SYS_close, fd);
      at += each->length;
    }
  const int error = error_of(size);
  ::syscall(SYS_close, list);
  return error;
}

int close_the_rest() noexcept { return ::syscall(SYS_close_range, first_to_close, ~0U, 0) == 0 ? 0 : close_listed(); }

int execute(const child_plan& plan) noexcept {
  bool denied = false;
  int error = ENOENT;
  for (char* const* path = plan.paths; *path != nullptr; ++path) {
    ::syscall(SYS_execve, *path, plan.arguments, plan.environment);
    error = errno;
    if (error == EACCES)
      denied = true;
    else if (error != ENOENT && error != ENOTDIR && error != ENODEV && error != ESTALE && error != ETIMEDOUT)
      return error;
  }
  return denied ? EACCES : error;
}

int become_program(const child_plan& plan) noexcept {
  reset_signals();
  if (const int error = leave_group(plan); error != 0) return error;
  if (const int error = put_streams(plan); error != 0) return error;
  if (const int error = close_the_rest(); error != 0) return error;
  if (plan.directory != nullptr && ::syscall(SYS_chdir, plan.directory) < 0) return errno;
  const std::uint64_t none = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, kernel_mask_size);
  return execute(plan);
}

int run_child(void* argument) noexcept {
  auto* const self = static_cast<launch*>(argument);
  self->error = become_program(*self->plan);
  constexpr int not_found = 127;
  ::syscall(SYS_exit_group, not_found);
  return not_found;
}

// ---- in the parent

// A kernel that can wait for a pidfd (5.4) can also return one from clone.
bool knows_pidfds() noexcept {
  static const bool known = [] {
    siginfo_t info;
    return ::waitid(P_PIDFD, INT_MAX, &info, WEXITED | WNOHANG) == 0 || errno != EINVAL;
  }();
  return known;
}

}  // namespace

int launch_child(const child_plan& plan, launched_child& child) noexcept {
  if (!knows_pidfds()) return ENOSYS;
  constexpr std::size_t stack_size = 16384;
  alignas(16) char stack[stack_size];
  constexpr int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
  auto* const start = &__clone != nullptr ? &__clone : &::clone;
  launch attempt{.plan = &plan, .error = 0};
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // a handler in the child would run in the parent's memory
  child.id = start(&run_child, stack + stack_size, flags, &attempt, &child.handle);
  const int error = child.id < 0 ? errno : attempt.error;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child.id < 0 || error == 0) return error;
  siginfo_t info;
  while (::waitid(P_PIDFD, static_cast<id_t>(child.handle), &info, WEXITED) < 0 && errno == EINTR) {
  }
  ::close(child.handle);
  return error;
}

}  // namespace gyre
