// tests/faults/files_faults_test.cpp: a failure in an operation on files, or in a child process, costs that operation.
#include "tests/faults/injector.hpp"
#include "tests/process/children.hpp"

#include <array>
#include <string>

using namespace gyre_test;

namespace {

class file_faults : public faults {};

/// Talks to a child process.
gyre::task<> talk(fault_injection& f, gyre::process_options options) {
  f.arm();
  auto running = gyre::run_process({"/bin/cat"}, std::move(options), "hello");
  const auto result = co_await std::move(running);
  EXPECT_EQ(result.output, "hello");
}

}  // namespace

TEST_P(file_faults, a_file_is_written_and_read_or_left_alone) {
  survives([](fault_injection& f) -> gyre::task<> {
    const scratch here;
    const std::string path = here.path("a file with a long name.txt");
    auto use = [&]() -> gyre::task<> {
      co_await gyre::fs::write_all_to(path, std::string_view("hello"), {.atomic = true});
      EXPECT_EQ(co_await gyre::fs::read_all(path), "hello");
      (void)co_await gyre::fs::list_directory(here.root());
    };
    co_await fail_and_check(f, use, [&](bool) { EXPECT_LE(here.entries(), 1U) << "something temporary is left"; });
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
    const scratch here;
    const std::string path = here.path("a file with a long name.txt");
    auto watch = [&]() -> gyre::task<> {
      gyre::fs::watcher watcher;
      co_await watcher.watch(here.root());
      co_await gyre::fs::write_all_to(path, std::string_view("hello"));
      auto reading = watcher.read_some();
      EXPECT_FALSE((co_await gyre::timeout(5s, std::move(reading))).empty());
    };
    co_await fail_and_check(f, watch, [](bool) {});
  });
}

TEST_P(file_faults, a_child_process_is_not_left_behind) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::process_options options;
    co_await talk(f, std::move(options));
  });
  EXPECT_FALSE(has_children());
}

TEST_P(file_faults, a_limited_group_of_processes_is_not_left_behind) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::process_options options{.process_group = true, .pipe_limit = 1h};
    co_await talk(f, std::move(options));
  });
  EXPECT_FALSE(has_children());
}

INSTANTIATE_TEST_SUITE_P(one, file_faults,
                         testing::Values(fault_kind::allocation, fault_kind::process_fds, fault_kind::fd_limit),
                         kind_name);
