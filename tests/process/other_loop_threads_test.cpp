// tests/process/other_loop_threads_test.cpp: a child that the loops of several threads use.
#include "tests/process/children.hpp"
#include "tests/support/two_loops.hpp"

#include <optional>
#include <thread>

using namespace gyre_test;
using gyre::process;

TEST(other_loop_process_death, each_use_of_a_process_names_the_other_loop) {
  std::optional<process> child;
  const auto first = [&] { child = process::start({"true"}); };
  const char* const name = "a process";
  expect_stop_in_await(first, [&]() -> gyre::task<> { (void)co_await child->wait(); }, elsewhere("wait", name));
  expect_stop_in_await(
      first, [&]() -> gyre::task<> { (void)co_await child->communicate(); }, elsewhere("communicate", name));
  expect_stop(first, [&] { child->kill(); }, elsewhere("kill", name));
  expect_stop(first, [&] { (void)child->output(); }, elsewhere("output", name));
  expect_stop(first, [&] { child->detach(); }, elsewhere("detach", name));
  expect_stop(first, [&] { child.reset(); }, elsewhere("destructor", name));
}

TEST(other_loop_process, may_be_destroyed_by_any_thread_after_its_loop_has_ended) {
  std::optional<process> child;
  gyre::run([&]() -> gyre::task<> {
    child = process::start({"true"});
    (void)co_await child->wait();
  });
  std::thread([&] { child.reset(); }).join();
}
