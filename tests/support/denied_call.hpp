// tests/support/denied_call.hpp: a process in which the kernel denies some system calls, as a container's filter does.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <string>

namespace gyre_test {

/// The thread sanitizer does not support threads in a child that was forked by a multi-threaded process.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool forked_children_may_start_threads = false;
#elif defined(__has_feature)
inline constexpr bool forked_children_may_start_threads = !__has_feature(thread_sanitizer);
#else
inline constexpr bool forked_children_may_start_threads = true;
#endif

/// The system call behind epoll_wait(2). Newer architectures have only epoll_pwait.
#if defined(SYS_epoll_wait)
inline constexpr long epoll_wait_call = SYS_epoll_wait;
#else
inline constexpr long epoll_wait_call = SYS_epoll_pwait;
#endif

/// From now on, a system call fails with this errno in this thread and in threads that it starts. It cannot be undone.
inline void deny_call(long number, int error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = 4, .filter = program};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) ::_exit(99);
}

/// The outcome of a child process.
struct child_outcome {
  std::string text;           ///< the string that its body returned
  bool ended = false;         ///< false if an exception or a signal ended it; SIGALRM means that it hung
  int signal = 0;             ///< that ended it
  double processor_time = 0;  ///< Units: seconds
  [[nodiscard]] bool says(const char* word) const { return text.find(word) != std::string::npos; }
};

/// Runs `body`, which returns a string, in a forked child with a limit of `seconds` of real time. An exception that it
/// throws is the text of a child that has not ended well.
template <class Body>
child_outcome in_child_process(Body body, unsigned seconds = 20) {
  child_outcome outcome;
  int ends[2];
  if (::pipe(ends) != 0) return outcome;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(seconds);
    std::string text;
    int code = 0;
    try {
      text = body();
    } catch (const std::exception& error) {
      text = error.what();
      code = 1;
    }
    (void)!::write(ends[1], text.data(), text.size());
    ::_exit(code);
  }
  ::close(ends[1]);
  char buffer[512];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof(buffer))) > 0;)
    outcome.text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  rusage used{};
  if (::wait4(child, &status, 0, &used) != child) return outcome;
  outcome.ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.processor_time = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                           static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  return outcome;
}

}  // namespace gyre_test
