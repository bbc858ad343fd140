// tests/process/children.hpp: finding children of this process, and system calls that a sandbox refuses.
#pragma once

#include <gyre/process.hpp>

#include <gyre/testing/run_test.hpp>

#include "tests/fs/scratch.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <vector>

namespace gyre_test {

using strings = std::vector<std::string>;

/// True while a child runs or waits to be reaped. Reaps none.
inline bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/// Waits until the loop has reaped all remaining children.
inline gyre::task<> expect_all_reaped() {
  for (int i = 0; i < 5000 && has_children(); ++i) co_await gyre::sleep(1ms);
  EXPECT_FALSE(has_children()) << "a child runs, or is a zombie";
}

/// Sets another action for a signal for the duration of a test.
class with_action {
 public:
  using handler = void (*)(int);
  with_action(int number, handler wanted) : number_(number), before_(std::signal(number, wanted)) {}
  with_action(const with_action&) = delete;
  with_action& operator=(const with_action&) = delete;
  ~with_action() { std::signal(number_, before_); }

 private:
  int number_;
  handler before_;
};

/// From now on, these system calls fail with `error` in this process and its children, as in a container with an old
/// profile.
inline void refuse_calls(int error, std::initializer_list<long> numbers) {
  std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long number : numbers) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    throw std::runtime_error("seccomp");
}

/// Runs `body`, which returns an exit code, in a forked child with a limit of one minute. Returns the child's wait
/// status.
template <class F>
int in_forked_child(F body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    try {
      ::_exit(body());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
      ::_exit(99);
    }
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

inline std::string start_error(const strings& arguments, const gyre::process_options& options = {}) {
  try {
    (void)gyre::process::start(arguments, options);
    return "";
  } catch (const gyre::io_error& error) {
    return error.what();
  }
}

}  // namespace gyre_test
