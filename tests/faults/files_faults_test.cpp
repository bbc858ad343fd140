// tests/faults/files_faults_test.cpp: a failure in an operation on files, or in a child process, costs that operation.
#include <gyre/fs.hpp>
#include <gyre/process.hpp>

#include "tests/faults/injector.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>

using namespace gyre_test;

namespace {

class file_faults : public faults {};

/// A directory of this process that is removed with its contents.
struct scratch_directory {
  std::string path = "/tmp/gyre_file_faults_" + std::to_string(::getpid());
  scratch_directory() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  ~scratch_directory() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(path)) ++count;
    return count;
  }
};

}  // namespace

TEST_P(file_faults, a_file_is_written_and_read_or_left_alone) {
  survives([](fault_injection& f) -> gyre::task<> {
    const scratch_directory here;
    const std::string path = here.path + "/a file with a long name.txt";
    std::exception_ptr failure;
    try {
      f.arm();
      co_await gyre::fs::write_all_to(path, std::string_view("hello"), {.atomic = true});
      EXPECT_EQ(co_await gyre::fs::read_all(path), "hello");
      (void)co_await gyre::fs::list_directory(here.path);
    } catch (...) {
      failure = std::current_exception();
    }
    f.disarm();
    EXPECT_LE(here.files(), 1U) << "something temporary is left";
    if (failure) std::rethrow_exception(failure);
  });
}

TEST_P(file_faults, an_open_file_gives_its_descriptor_back) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    auto file = co_await gyre::fs::file::open("/proc/self/status");
    std::array<char, 100> buffer;
    EXPECT_GT(co_await file.read_some(std::span<char>(buffer)), 0U);
    co_await file.close();
  });
}

TEST_P(file_faults, a_watcher_gives_its_descriptor_back) {
  survives([](fault_injection& f) -> gyre::task<> {
    const scratch_directory here;
    std::exception_ptr failure;
    try {
      f.arm();
      gyre::fs::watcher watcher;
      co_await watcher.watch(here.path);
      const std::string path = here.path + "/a file with a long name.txt";
      co_await gyre::fs::write_all_to(path, std::string_view("hello"));
      auto reading = watcher.read_some();
      EXPECT_FALSE((co_await gyre::timeout(5s, std::move(reading))).empty());
    } catch (...) {
      failure = std::current_exception();
    }
    f.disarm();
    if (failure) std::rethrow_exception(failure);
  });
}

TEST_P(file_faults, a_child_process_is_not_left_behind) {
  survives([](fault_injection& f) -> gyre::task<> {
    std::exception_ptr failure;
    try {
      f.arm();
      gyre::process_options options;
      auto running = gyre::run_process({"/bin/cat"}, std::move(options), "hello");
      const auto result = co_await std::move(running);
      EXPECT_EQ(result.output, "hello");
    } catch (...) {
      failure = std::current_exception();
    }
    f.disarm();
    if (failure) std::rethrow_exception(failure);
  });
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_P(file_faults, a_limited_group_of_processes_is_not_left_behind) {
  survives([](fault_injection& f) -> gyre::task<> {
    std::exception_ptr failure;
    try {
      f.arm();
      gyre::process_options options;
      options.process_group = true;
      options.pipe_limit = std::chrono::hours(1);
      auto running = gyre::run_process({"/bin/cat"}, std::move(options), "hello");
      const auto result = co_await std::move(running);
      EXPECT_EQ(result.output, "hello");
    } catch (...) {
      failure = std::current_exception();
    }
    f.disarm();
    if (failure) std::rethrow_exception(failure);
  });
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

INSTANTIATE_TEST_SUITE_P(one, file_faults,
                         testing::Values(fault_kind::allocation, fault_kind::process_fds, fault_kind::fd_limit),
                         kind_name);
