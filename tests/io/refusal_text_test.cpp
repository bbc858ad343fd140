// tests/io/refusal_text_test.cpp: each refusal of io_uring is reported with its cause and a remedy.
#include "src/io/refusal_text.hpp"

#include "tests/support/denied_call.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <fstream>
#include <string>

namespace {

std::string described(int error, const char* step = "io_uring_setup") {
  char text[256];
  gyre::io::describe_refusal({error, step}, text, sizeof(text));
  return text;
}

// The same in a process with a system call filter, which denies a call that nobody makes. Returns "" where filters are
// impossible.
std::string described_under_a_filter(int error, const char* step) {
  const auto said = gyre_test::in_child_process([&] {
    gyre_test::deny_call(SYS_acct, EPERM);
    return described(error, step);
  });
  return said.text;
}

bool has_filter() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Seccomp:")) return line.back() == '2';
  return false;
}

// The soft limit of locked memory, restored at the end.
class locked_memory {
 public:
  locked_memory() { ::getrlimit(RLIMIT_MEMLOCK, &before_); }
  locked_memory(const locked_memory&) = delete;
  ~locked_memory() { ::setrlimit(RLIMIT_MEMLOCK, &before_); }
  bool set(rlim_t bytes) const {
    const rlimit wanted{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    return ::setrlimit(RLIMIT_MEMLOCK, &wanted) == 0;
  }

 private:
  rlimit before_{};
};

}  // namespace

TEST(refusal_text, says_the_call_the_name_of_the_error_the_cause_and_the_remedy) {
  EXPECT_EQ(described(EMFILE),
            "io_uring_setup failed with EMFILE: this process is out of descriptors; raise the limit (ulimit -n)");
  EXPECT_EQ(described(ENFILE),
            "io_uring_setup failed with ENFILE: the machine is out of descriptors; raise sysctl fs.file-max");
  for (const int error : {EINVAL, ENOTSUP})
    EXPECT_NE(described(error).find("the kernel is older than 6.1, or the sizes asked for are out of range"),
              std::string::npos);
}

TEST(refusal_text, names_the_limit_of_locked_memory_when_there_is_one) {
  const locked_memory limit;
  ASSERT_TRUE(limit.set(std::size_t{48} << 10U));
  EXPECT_EQ(described(ENOMEM),
            "io_uring_setup failed with ENOMEM: RLIMIT_MEMLOCK is 48 KiB a user, too little for a ring; raise it "
            "(ulimit -l)");
}

TEST(refusal_text, does_not_blame_a_limit_that_is_not_there) {
  const locked_memory limit;
  if (!limit.set(RLIM_INFINITY)) GTEST_SKIP() << "the hard limit does not allow it";
  EXPECT_EQ(described(ENOMEM), "io_uring_setup failed with ENOMEM: no memory for a ring");
}

TEST(refusal_text, an_error_that_no_cause_is_known_for_asks_for_a_report) {
  EXPECT_EQ(
      described(EIO),
      "io_uring_setup failed with EIO: it does not do what it should; please report it with the kernel's version");
  EXPECT_EQ(described(100'000).find("io_uring_setup failed with unknown error: "), 0u);
}

TEST(refusal_text, a_filter_of_system_calls_is_blamed_only_where_there_is_one) {
  const auto blames_filter = [](const std::string& text) {
    return text.find(": a seccomp filter ") != std::string::npos;
  };
  for (const int error : {EPERM, EACCES, ENOSYS})
    for (const char* const step : {"io_uring_setup", "epoll_pwait2"}) {
      EXPECT_TRUE(blames_filter(described_under_a_filter(error, step))) << error << step;
      EXPECT_EQ(blames_filter(described(error, step)), has_filter()) << error << step;
    }
}

TEST(refusal_text, a_denial_without_a_filter_points_at_a_security_module) {
  if (has_filter()) GTEST_SKIP() << "this process has a filter";
  for (const int error : {EPERM, EACCES})
    EXPECT_TRUE(described(error, "epoll_create1").ends_with("a security module (SELinux)?")) << error;
  EXPECT_EQ(described(ENOSYS), "io_uring_setup failed with ENOSYS: the kernel has no io_uring");
  EXPECT_EQ(described(ENOSYS, "epoll_create1"), "epoll_create1 failed with ENOSYS: the kernel has no such call");
}

TEST(refusal_text, does_not_blame_a_setting_that_cannot_be_read) {
  const auto said = gyre_test::in_child_process([&] {
    gyre_test::deny_call(SYS_openat, EACCES);  // as without /proc
    return described(EPERM) + " | " + described(ENOSYS);
  });
  EXPECT_EQ(said.text,
            "io_uring_setup failed with EPERM: neither the sysctl nor a seccomp filter does that: a security module "
            "(SELinux)? | io_uring_setup failed with ENOSYS: the kernel has no io_uring");
}

TEST(refusal_text, fits_into_what_the_caller_has) {
  char text[20];
  gyre::io::describe_refusal({EMFILE, "io_uring_setup"}, text, sizeof(text));
  EXPECT_STREQ(text, "io_uring_setup fail");
}
