// tests/process/process_misuse_test.cpp: using a process object without a child stops the program with a message.
#include "tests/process/children.hpp"

using namespace gyre_test;
using gyre::process;
using gyre::redirect;

namespace {

/// Uses a moved-from object, and a detached one.
template <class Use>
void expect_sentences(const char* operation, Use use) {
  const std::string sentence = std::string(operation) + " on a process that was moved from or detached: use the object";
  EXPECT_DEATH(run_test([&]() -> gyre::task<> {
                 process child = process::start({"true"});
                 const process taken = std::move(child);
                 use(child);  // NOLINT(bugprone-use-after-move): that is the test
                 co_return;
               }),
               sentence);
  EXPECT_DEATH(run_test([&]() -> gyre::task<> {
                 process child = process::start({"true"});
                 child.detach();
                 use(child);
                 co_return;
               }),
               sentence);
}

}  // namespace

TEST(process_misuse_death, id_of_no_process_stops_the_program) {
  expect_sentences("id", [](process& child) { (void)child.id(); });
}

TEST(process_misuse_death, streams_of_no_process_stop_the_program) {
  expect_sentences("input", [](process& child) { (void)child.input(); });
  expect_sentences("output", [](process& child) { (void)child.output(); });
  expect_sentences("error", [](process& child) { (void)child.error(); });
}

TEST(process_misuse_death, waiting_for_no_process_stops_the_program) {
  expect_sentences("wait", [](process& child) { (void)child.wait(); });
  expect_sentences("communicate", [](process& child) { (void)child.communicate(); });
}

TEST(process_misuse_death, signals_to_no_process_stop_the_program) {
  expect_sentences("send_signal", [](process& child) { child.send_signal(0); });
  expect_sentences("terminate", [](process& child) { child.terminate(); });
  expect_sentences("kill", [](process& child) { child.kill(); });
}

TEST(process_misuse_death, two_tasks_that_communicate_stop_the_program) {
  EXPECT_DEATH(run_test([]() -> gyre::task<> {
                 const gyre::pipe_descriptors ours = gyre::open_pipe();  // the child ends with it
                 process child = process::start({"cat"}, {.standard_input = redirect::descriptor(ours.reader.get()),
                                                          .standard_output = redirect::pipe()});
                 auto first = gyre::spawn(child.communicate());
                 co_await gyre::yield();
                 (void)co_await child.communicate();
               }),
               "two tasks communicate with one process at the same time");
}

TEST(process_misuse, detaching_no_process_is_allowed) {
  run_test([]() -> gyre::task<> {
    process child = process::start({"true"});
    process taken = std::move(child);
    child.detach();  // NOLINT(bugprone-use-after-move): that is the test
    taken.detach();
    taken.detach();
    co_await expect_all_reaped();
  });
}

TEST(process_misuse, input_or_output_that_goes_where_the_output_goes_is_refused) {
  run_test([]() -> gyre::task<> {
    EXPECT_THROW((void)process::start({"true"}, {.standard_input = redirect::to_output()}), std::invalid_argument);
    EXPECT_THROW((void)process::start({"true"}, {.standard_output = redirect::to_output()}), std::invalid_argument);
    co_return;
  });
}
