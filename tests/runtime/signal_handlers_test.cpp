// tests/runtime/signal_handlers_test.cpp: owners of a signal beside handlers of other code, and in a forked child.
#include <gyre/runtime/signal_set.hpp>

#include <gyre/testing/run_test.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <system_error>

using gyre::testing::run_test;

namespace {

using signal_handler = void (*)(int);
using set_owner = std::unique_ptr<gyre::signal_set>;

volatile std::sig_atomic_t first_calls = 0;
volatile std::sig_atomic_t later_calls = 0;
struct sigaction replaced_by_later;

void first_handler(int /*number*/) { first_calls = first_calls + 1; }

// The handler of a library that calls the handler that it has replaced.
void later_handler(int number, siginfo_t* info, void* context) {
  later_calls = later_calls + 1;
  if ((replaced_by_later.sa_flags & SA_SIGINFO) != 0)
    replaced_by_later.sa_sigaction(number, info, context);
  else if (replaced_by_later.sa_handler != SIG_DFL && replaced_by_later.sa_handler != SIG_IGN)
    replaced_by_later.sa_handler(number);
}

void install_later_handler(int number) {
  struct sigaction action{};
  action.sa_sigaction = &later_handler;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(number, &action, &replaced_by_later);
}

bool later_handler_is_installed(int number) {
  struct sigaction current{};
  ::sigaction(number, nullptr, &current);
  return (current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == &later_handler;
}

set_owner own(int number) { return std::make_unique<gyre::signal_set>(std::initializer_list<int>{number}); }

int next_of(gyre::signal_set& set) {
  return run_test([&]() -> gyre::task<int> { co_return co_await set.next(); });
}

/// Runs `body` in a forked child and returns its wait status.
template <class F>
int in_child(F body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

}  // namespace

TEST(signal_handlers, a_handler_that_other_code_installs_meanwhile_stays_at_the_end_of_a_set) {
  const signal_handler before = std::signal(SIGUSR1, SIG_IGN);
  set_owner set = own(SIGUSR1);
  std::signal(SIGUSR1, first_handler);
  set.reset();
  EXPECT_EQ(std::signal(SIGUSR1, before), first_handler);
}

TEST(signal_handlers, a_handler_on_top_of_a_set_reaches_the_set_and_after_its_end_what_was_there_before) {
  first_calls = 0;
  later_calls = 0;
  const int status = in_child([] {
    std::signal(SIGUSR2, first_handler);
    set_owner set = own(SIGUSR2);
    install_later_handler(SIGUSR2);
    ::raise(SIGUSR2);
    if (next_of(*set) != SIGUSR2 || later_calls != 1 || first_calls != 0) return 1;
    set.reset();
    if (!later_handler_is_installed(SIGUSR2)) return 2;
    ::raise(SIGUSR2);
    if (later_calls != 2 || first_calls != 1) return 3;
    // A set installed after that handler, which restores the handler.
    set = own(SIGUSR2);
    ::raise(SIGUSR2);
    if (next_of(*set) != SIGUSR2 || later_calls != 2) return 4;
    set.reset();
    ::raise(SIGUSR2);
    return later_calls == 3 && first_calls == 2 ? 0 : 5;
  });
  EXPECT_EQ(status, 0) << "step " << WEXITSTATUS(status);
}

TEST(signal_handlers, a_handler_on_top_of_a_set_that_has_ended_reaches_the_default) {
  const int status = in_child([] {
    std::signal(SIGUSR2, SIG_DFL);
    std::signal(SIGWINCH, SIG_DFL);
    for (const int number : {SIGWINCH, SIGUSR2}) {
      set_owner set = own(number);
      install_later_handler(number);
      set.reset();
      ::raise(number);  // the first is ignored by default, the second kills the process
    }
    return 1;
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGUSR2);
}

TEST(signal_handlers, a_child_of_fork_has_the_signals_as_they_were_before_the_set) {
  gyre::signal_set set{SIGUSR1};
  const int status = in_child([] {
    ::raise(SIGUSR1);
    return 0;
  });
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child has kept the handler of its parent";
  EXPECT_EQ(WTERMSIG(status), SIGUSR1);
  ::raise(SIGUSR1);
  EXPECT_EQ(next_of(set), SIGUSR1);
}

TEST(signal_handlers, a_child_of_fork_can_own_the_signals_of_its_parent) {
  const gyre::signal_set set{SIGUSR1};
  const int status = in_child([] {
    gyre::signal_set own_set{SIGUSR1};
    ::raise(SIGUSR1);
    return next_of(own_set) == SIGUSR1 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST(signal_handlers, the_handler_runs_on_the_alternate_stack_of_its_thread) {
  const set_owner set = own(SIGUSR1);
  struct sigaction current{};
  ::sigaction(SIGUSR1, nullptr, &current);
  EXPECT_NE(current.sa_flags & SA_ONSTACK, 0);
  EXPECT_NE(current.sa_flags & SA_RESTART, 0);
}

TEST(signal_handlers, a_set_without_a_descriptor_to_be_had_is_refused) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 3;
  ::setrlimit(RLIMIT_NOFILE, &none);
  std::error_code error;
  try {
    const gyre::signal_set set{SIGUSR1};
  } catch (const std::system_error& failure) {
    error = failure.code();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(error, std::errc::too_many_files_open);
}
