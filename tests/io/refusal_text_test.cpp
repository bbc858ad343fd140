// tests/io/refusal_text_test.cpp: each refusal of io_uring comes with its cause and what helps.
#include "src/io/refusal_text.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cerrno>
#include <string>

namespace {

std::string described(int error) {
  char text[256];
  gyre::io::describe_refusal({error, "io_uring_setup"}, text, sizeof(text));
  return text;
}

// The soft limit of locked memory, put back at the end.
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

TEST(refusal_text, fits_into_what_the_caller_has) {
  char text[20];
  gyre::io::describe_refusal({EMFILE, "io_uring_setup"}, text, sizeof(text));
  EXPECT_STREQ(text, "io_uring_setup fail");
}
