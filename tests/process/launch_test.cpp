// tests/process/launch_test.cpp: the environment of a child before it runs the program, and starts that fail.
#include "tests/process/children.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <sstream>

using namespace gyre_test;
using gyre::process;
using gyre::process_options;
using gyre::redirect;
using gyre::testing::open_descriptors;

namespace {

/// Limits the number of descriptors that can be opened, for the duration of a test.
class with_free_descriptors {
 public:
  explicit with_free_descriptors(int count) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    std::vector<int> opened(static_cast<std::size_t>(count) + 1);
    for (int& each : opened) each = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(opened.back());
    for (const int each : opened) ::close(each);
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  with_free_descriptors(const with_free_descriptors&) = delete;
  with_free_descriptors& operator=(const with_free_descriptors&) = delete;
  ~with_free_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

class with_path {
 public:
  explicit with_path(const std::string& wanted) : before_(std::getenv("PATH")) { ::setenv("PATH", wanted.c_str(), 1); }
  with_path(const with_path&) = delete;
  with_path& operator=(const with_path&) = delete;
  ~with_path() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

gyre::task<std::string> output_of(strings arguments, process_options options) {
  options.standard_output = redirect::pipe();
  process child = process::start(arguments, options);
  const auto result = co_await child.communicate();
  co_return result.output;
}
// An overload, because g++ 12 destroys a default argument of this kind twice in a co_await.
gyre::task<std::string> output_of(strings arguments) {
  process_options options;
  co_return co_await output_of(std::move(arguments), std::move(options));
}

std::string put_script(const scratch& dir, const std::string& name, std::string_view text, mode_t mode) {
  std::filesystem::create_directories(std::filesystem::path(dir.path(name)).parent_path());
  const std::string path = dir.put(name, text);
  ::chmod(path.c_str(), mode);
  return path;
}

}  // namespace

TEST(process_launch, a_start_that_fails_leaves_no_child_and_no_descriptor) {
  const scratch dir;
  const std::string plain = put_script(dir, "plain", "#!/bin/sh\n", 0600);
  const std::string foreign = put_script(dir, "foreign", "no program", 0700);
  run_test([&]() -> gyre::task<> {
    process_options piped = with_pipes();
    const std::size_t before = open_descriptors();
    EXPECT_EQ(start_error({"/no/such"}, piped), "start /no/such: No such file or directory");
    EXPECT_EQ(start_error({"no_such_program_in_the_path"}, piped),
              "start no_such_program_in_the_path: No such file or directory");
    EXPECT_EQ(start_error({plain}, piped), "start " + plain + ": Permission denied");
    EXPECT_EQ(start_error({foreign}, piped), "start " + foreign + ": Exec format error");
    EXPECT_EQ(start_error({plain + "/below"}, piped), "start " + plain + "/below: Not a directory");
    piped.directory = "/no/such";
    EXPECT_EQ(start_error({"true"}, piped), "start true in /no/such: No such file or directory");
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_FALSE(has_children());
    co_return;
  });
}

TEST(process_launch, a_start_without_free_descriptors_starts_nothing) {
  const scratch dir;
  const strings leaves_a_trace{"/bin/sh", "-c", "echo > " + dir.path("trace")};
  run_test([&]() -> gyre::task<> {
    const process_options piped = with_pipes();
    const std::size_t before = open_descriptors();
    bool started = false;
    for (int count = 0; !started && count < 30; ++count) {
      std::string error;
      {
        const with_free_descriptors few(count);
        error = start_error(leaves_a_trace, piped);
      }
      started = error.empty();
      EXPECT_EQ(started, count >= 7) << count << ": " << error;  // three pipes and the child's descriptor
      if (started) break;
      EXPECT_EQ(error, "start /bin/sh: Too many open files");
      EXPECT_EQ(open_descriptors(), before);
      EXPECT_FALSE(has_children());
      EXPECT_FALSE(dir.has("trace"));
    }
    EXPECT_TRUE(started);
    co_await expect_all_reaped();
  });
}

TEST(process_launch, the_first_program_in_the_path_that_can_be_executed_runs) {
  const scratch dir;
  put_script(dir, "a/gyre_test_tool", "#!/bin/sh\necho a\n", 0600);
  put_script(dir, "b/gyre_test_tool", "#!/bin/sh\necho b\n", 0700);
  put_script(dir, "c/gyre_test_tool", "#!/bin/sh\necho c\n", 0700);
  put_script(dir, "a/gyre_test_plain", "#!/bin/sh\n", 0600);
  const with_path path("/no/such:" + dir.path("a") + ":" + dir.path("b") + ":" + dir.path("c"));
  run_test([]() -> gyre::task<> {
    const strings tool{"gyre_test_tool"};
    const std::string said = co_await output_of(tool);
    EXPECT_EQ(said, "b\n");
    EXPECT_EQ(start_error({"gyre_test_plain"}), "start gyre_test_plain: Permission denied");
    EXPECT_EQ(start_error({"gyre_test_nothing"}), "start gyre_test_nothing: No such file or directory");
  });
}

TEST(process_launch, a_program_is_looked_for_from_its_own_directory) {
  const scratch dir;
  put_script(dir, "tools/say", "#!/bin/sh\necho here\n", 0700);
  run_test([&]() -> gyre::task<> {
    process_options options;
    options.directory = dir.root();
    const strings relative{"tools/say"};
    std::string said = co_await output_of(relative, options);
    EXPECT_EQ(said, "here\n");
    options.directory = dir.path("tools");
    const strings bare{"say"};
    const with_path path("");  // the current directory
    said = co_await output_of(bare, options);
    EXPECT_EQ(said, "here\n");
  });
}

TEST(process_launch, the_child_has_no_signal_blocked_or_ignored) {
  const with_action ignored(SIGUSR1, SIG_IGN);
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  run_test([]() -> gyre::task<> {
    const strings look{"grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"};
    const std::string said = co_await output_of(look);
    EXPECT_EQ(said, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  });
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, &before, &now);
  EXPECT_EQ(::sigismember(&now, SIGUSR2), 1);
  EXPECT_EQ(::sigismember(&now, SIGTERM), 0) << "a start has left a signal blocked";
}

TEST(process_launch, a_start_changes_no_signal_action_of_this_program) {
  const with_action handled(SIGUSR1, [](int) {});
  struct sigaction before{};
  ::sigaction(SIGUSR1, nullptr, &before);
  run_test([]() -> gyre::task<> {
    process child = process::start({"true"});
    (void)co_await child.wait();
    EXPECT_NE(start_error({"/no/such"}), "");
  });
  struct sigaction after{};
  ::sigaction(SIGUSR1, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

TEST(process_launch, a_new_session_is_led_by_the_child) {
  run_test([]() -> gyre::task<> {
    process_options options;
    options.standard_output = redirect::pipe();
    for (const bool wanted : {true, false}) {
      options.new_session = wanted;
      process child = process::start_shell("read -r _ _ _ _ _ session _ < /proc/self/stat; echo $session", options);
      const int id = child.id();
      const auto result = co_await child.communicate();
      EXPECT_EQ(result.output == std::to_string(id) + "\n", wanted) << result.output;
    }
  });
}

TEST(process_launch, streams_can_be_exchanged) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    auto out = co_await gyre::fs::file::open(dir.path("out"), gyre::fs::for_writing);
    const int saved = ::dup(STDOUT_FILENO);
    ::dup2(out.native_descriptor(), STDOUT_FILENO);
    process_options options;
    options.standard_error = redirect::descriptor(STDOUT_FILENO);
    options.standard_output = redirect::null();
    process child = process::start_shell("echo lost; echo said >&2", options);
    ::dup2(saved, STDOUT_FILENO);
    ::close(saved);
    (void)co_await child.wait();
    EXPECT_EQ(dir.get("out"), "said\n");
  });
}

TEST(process_launch, a_sandbox_without_new_system_calls_can_start_children) {
  for (const int error : {ENOSYS, EPERM}) {
    const auto outcome = in_child_process([error] {
      for (const long call : {SYS_clone3, SYS_pidfd_open, SYS_close_range}) deny_call(call, error);
      return gyre::run([]() -> gyre::task<std::string> {
        for (int i = 0; i < 300; ++i) (void)::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
        const strings list{"ls", "/proc/self/fd"};
        std::string said = co_await output_of(list);
        process child = start_sleeping();
        child.terminate();
        const auto ended = co_await child.wait();
        co_return said + ended.string();
      });
    });
    EXPECT_EQ(outcome.text, "0\n1\n2\n3\nsignal 15 (Terminated)") << error;
  }
}

namespace {

/// The error of starting a program in a process in which a system call fails with `error`.
std::string start_with_denied(long call, int error, const std::string& program = "true") {
  const auto said = in_child_process([&] {
    deny_call(call, error);
    return gyre::run([&]() -> gyre::task<std::string> {
      std::string text;
      try {
        auto child = process::start({program});
        const auto status = co_await child.wait();
        text = status.success() ? "done" : "failed";
      } catch (const gyre::io_error& refusal) {
        text = refusal.code().message();
      }
      co_return text;
    });
  });
  return said.text;
}

}  // namespace

TEST(process_launch, a_program_on_a_disk_that_does_not_answer_is_looked_for_in_the_next_directory) {
  if (!forked_children_may_start_threads) GTEST_SKIP();
  for (const int error : {ENODEV, ESTALE, ETIMEDOUT, ENOTDIR})
    EXPECT_EQ(start_with_denied(SYS_execve, error), std::generic_category().message(error)) << error;
  EXPECT_EQ(start_with_denied(SYS_execve, E2BIG), "Argument list too long");
}

TEST(process_launch, a_child_that_the_kernel_refuses_is_an_error) {
  if (!forked_children_may_start_threads) GTEST_SKIP();
  EXPECT_EQ(start_with_denied(SYS_clone, EAGAIN), "Resource temporarily unavailable");
}

TEST(process_launch, a_child_whose_descriptors_cannot_be_closed_is_not_started) {
  if (!forked_children_may_start_threads) GTEST_SKIP();
  const auto refused = in_child_process([] {
    deny_call(SYS_close_range, ENOSYS);
    deny_call(SYS_getdents64, EIO);
    return start_with_denied(SYS_acct, EPERM);
  });
  EXPECT_EQ(refused.text, "Input/output error") << "descriptors would have stayed open";
}
