// tests/io/backend_shortage_test.cpp: the choice of the backend in a process that is out of descriptors.
#include <gyre/io/backend_choice.hpp>

#include "tests/io/io_uring_works_here.hpp"
#include "tests/support/denied_call.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

namespace {

using gyre::io::backend_choice;
using gyre::io::backend_kind;
using gyre::io::backend_owner;

// The output of a new process, because the choice is made once per process.
template <class Body>
std::string said_by_child(Body body) {
  const gyre_test::child_outcome child = gyre_test::in_child_process([&] {
    ::unsetenv("GYRE_BACKEND");
    return body();
  });
  EXPECT_TRUE(child.ended) << child.signal;
  return child.text;
}

// While it exists, every call that needs a descriptor fails with EMFILE.
class no_descriptors {
 public:
  no_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  no_descriptors(const no_descriptors&) = delete;
  ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

std::string made(backend_kind kind) {
  gyre::io::backend_options options;
  options.kind = kind;
  backend_choice choice;
  const backend_owner backend = gyre::io::make_backend(options, choice);
  return std::string(backend ? backend->name() : "none") + " | " + choice.reason;
}

std::string usual() {
  return said_by_child([] { return made(backend_kind::automatic); });
}

}  // namespace

TEST(backend_shortage, a_process_without_descriptors_has_no_backend_and_says_why) {
  const std::string said = said_by_child([] {
    const no_descriptors shortage;
    return made(backend_kind::automatic);
  });
  EXPECT_TRUE(said.starts_with("none | no backend: ")) << said;
  EXPECT_NE(said.find("EMFILE: this process is out of descriptors; raise the limit (ulimit -n)"), std::string::npos);
}

TEST(backend_shortage, epoll_asked_for_by_name_names_the_call_that_failed) {
  const std::string said = said_by_child([] {
    const no_descriptors shortage;
    return made(backend_kind::epoll);
  });
  EXPECT_TRUE(said.starts_with("none | no backend: epoll_create1 failed with EMFILE: ")) << said;
}

TEST(backend_shortage, io_uring_asked_for_by_name_does_not_fall_back) {
  if (!gyre_test::io_uring_works_here()) GTEST_SKIP() << "io_uring cannot be used here anyway";
  const std::string said = said_by_child([] {
    const no_descriptors shortage;
    return made(backend_kind::io_uring);
  });
  EXPECT_TRUE(said.starts_with("none | io_uring was asked for by the program, but ")) << said;
  EXPECT_NE(said.find("EMFILE"), std::string::npos) << said;
}

TEST(backend_shortage, a_shortage_during_the_first_choice_does_not_decide_the_later_ones) {
  const std::string said = said_by_child([] {
    {
      const no_descriptors shortage;
      (void)gyre::io::process_backend_choice();
    }
    return made(backend_kind::automatic);
  });
  EXPECT_EQ(said.substr(0, said.find(',')), usual().substr(0, usual().find(',')));
}

TEST(backend_shortage, a_process_that_has_run_out_since_the_first_choice_hears_of_it) {
  const std::string said = said_by_child([] {
    (void)gyre::io::process_backend_choice();
    const no_descriptors shortage;
    return made(backend_kind::automatic);
  });
  EXPECT_TRUE(said.starts_with("none | no backend: ")) << said;
}
