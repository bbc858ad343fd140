// tests/io/backend_choice_test.cpp: which backend a process gets when the kernel, a filter or a limit refuses io_uring.
#include <gyre/io/backend_choice.hpp>

#include "tests/io/io_uring_works_here.hpp"
#include "tests/support/denied_call.hpp"
#include "tests/support/planned_backend.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

namespace {

struct outcome {
  std::string backend;  // "" if there is none
  int error;
  std::string reason;
};

// The choice of a new process after `prepare`. The choice is made once per process, and filters cannot be removed.
template <class Prepare>
outcome in_child(Prepare prepare, gyre::io::backend_kind kind = gyre::io::backend_kind::automatic) {
  const gyre_test::child_outcome child = gyre_test::in_child_process([&] {
    ::unsetenv("GYRE_BACKEND");
    prepare();
    gyre::io::backend_options options;
    options.kind = kind;
    gyre::io::backend_choice choice;
    const gyre::io::backend_owner made = gyre::io::make_backend(options, choice);
    return std::string(made ? made->name() : "") + "\n" + std::to_string(choice.error) + "\n" + choice.reason;
  });
  EXPECT_TRUE(child.ended) << child.signal;
  const std::string& text = child.text;
  const std::size_t first = text.find('\n');
  const std::size_t second = text.find('\n', first + 1);
  if (second == std::string::npos) return {"?", -1, text};
  return {text.substr(0, first), std::atoi(text.c_str() + first + 1), text.substr(second + 1)};
}

}  // namespace

TEST(backend_choice, a_filter_that_denies_io_uring_setup_with_EPERM_leads_to_epoll_with_the_reason) {
  const outcome got = in_child([] { gyre_test::deny_call(SYS_io_uring_setup, EPERM); });
  EXPECT_EQ(got.backend, "epoll");
  EXPECT_EQ(got.error, EPERM);
  EXPECT_NE(got.reason.find("io_uring_setup failed with EPERM"), std::string::npos) << got.reason;
}

TEST(backend_choice, a_kernel_that_answers_ENOSYS_leads_to_epoll_with_the_reason) {
  const outcome got = in_child([] { gyre_test::deny_call(SYS_io_uring_setup, ENOSYS); });
  EXPECT_EQ(got.backend, "epoll");
  EXPECT_NE(got.reason.find("ENOSYS"), std::string::npos) << got.reason;
}

TEST(backend_choice, a_filter_that_allows_the_setup_and_denies_what_comes_after_is_noticed) {
  for (const long call : {SYS_io_uring_enter, SYS_io_uring_register}) {
    const outcome got = in_child([call] { gyre_test::deny_call(call, EPERM); });
    EXPECT_EQ(got.backend, "epoll") << call;
    EXPECT_EQ(got.error, EPERM) << got.reason;
  }
}

TEST(backend_choice, is_epoll_with_the_limit_in_the_reason_where_memory_lacks_for_a_ring) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become another user";
  if (!gyre_test::io_uring_works_here()) GTEST_SKIP() << "io_uring cannot be used here anyway";
  const outcome got = in_child([] {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(98);
  });
  EXPECT_EQ(got.backend, "epoll");
  EXPECT_EQ(got.error, ENOMEM);
  EXPECT_NE(got.reason.find("ulimit -l"), std::string::npos) << got.reason;
}

TEST(backend_choice, little_memory_leads_to_a_smaller_ring) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become another user";
  if (!gyre_test::io_uring_works_here()) GTEST_SKIP() << "io_uring cannot be used here anyway";
  const outcome got = in_child([] {
    const rlimit little{.rlim_cur = 96 << 10, .rlim_max = 96 << 10};
    if (::setrlimit(RLIMIT_MEMLOCK, &little) != 0 || ::setgid(65534) != 0 || ::setuid(65533) != 0) ::_exit(98);
  });
  EXPECT_TRUE(got.backend == "io_uring" || got.error == ENOMEM) << got.reason;
}

TEST(backend_choice, io_uring_asked_for_by_name_and_denied_is_an_error) {
  const outcome got =
      in_child([] { gyre_test::deny_call(SYS_io_uring_setup, EPERM); }, gyre::io::backend_kind::io_uring);
  EXPECT_EQ(got.backend, "");
  EXPECT_EQ(got.error, EPERM);
  EXPECT_NE(got.reason.find("asked for"), std::string::npos) << got.reason;
}

TEST(backend_choice, GYRE_BACKEND_overrides_and_a_wrong_word_is_refused) {
  EXPECT_EQ(in_child([] { ::setenv("GYRE_BACKEND", "epoll", 1); }).backend, "epoll");
  const outcome wrong = in_child([] { ::setenv("GYRE_BACKEND", "fast", 1); });
  EXPECT_EQ(wrong.backend, "");
  EXPECT_EQ(wrong.error, EINVAL);
  EXPECT_NE(wrong.reason.find("GYRE_BACKEND=fast: expected auto, io_uring or epoll"), std::string::npos)
      << wrong.reason;
}

TEST(backend_choice, a_registered_backend_is_chosen_by_its_name) {
  const outcome by_program = in_child([] {}, gyre_test::planned_epoll);
  EXPECT_EQ(by_program.backend, "epoll");
  EXPECT_EQ(by_program.reason, "planned: for a test");
  const outcome by_variable = in_child([] { ::setenv("GYRE_BACKEND", "planned_epoll", 1); });
  EXPECT_EQ(by_variable.reason, "planned: for a test");
}

TEST(backend_choice, a_kind_that_nobody_has_registered_is_refused) {
  const outcome got = in_child([] {}, gyre::io::backend_kind{"simulated"});
  EXPECT_EQ(got.backend, "");
  EXPECT_EQ(got.error, EINVAL);
  EXPECT_EQ(got.reason, "backend_options::kind: no backend \"simulated\" is registered");
}

TEST(backend_choice, epoll_that_has_no_way_to_wait_or_to_be_woken_names_the_call) {
  for (const auto& [call, name] : {std::pair(SYS_epoll_create1, "epoll_create1"), std::pair(SYS_eventfd2, "eventfd2"),
                                   std::pair(SYS_epoll_ctl, "epoll_ctl")}) {
    const outcome got = in_child([call] { gyre_test::deny_call(call, EPERM); }, gyre::io::backend_kind::epoll);
    EXPECT_EQ(got.backend, "") << name;
    EXPECT_EQ(got.error, EPERM) << name;
    EXPECT_EQ(got.reason, "no backend: " + std::string(name) +
                              " failed with EPERM: a seccomp filter denies it; allow it in the container's profile");
  }
  const auto denies_both = [] {
    gyre_test::deny_call(SYS_epoll_pwait2, ENOSYS);
    gyre_test::deny_call(gyre_test::epoll_wait_call, EPERM);
  };
  const outcome got = in_child(denies_both, gyre::io::backend_kind::epoll);
  EXPECT_EQ(got.error, EPERM);
  EXPECT_NE(got.reason.find("epoll_wait failed with EPERM"), std::string::npos) << got.reason;
}
