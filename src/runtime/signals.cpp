// src/runtime/signals.cpp: SIGINT and SIGTERM become a cancel of the main task.
#include <gyre/loop/event_loop.hpp>
#include <gyre/tasks/task_state.hpp>

#include "signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

namespace gyre::termination_signals {
namespace {

std::atomic<event_loop*> watching{nullptr};
std::atomic<int> first_signal{0};
task_state* main_task = nullptr;
io::completion cancel_main;  // posted by the handler, at most once
struct sigaction previous_int;
struct sigaction previous_term;

void on_signal(int number) {
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, number)) ::_exit(128 + number);
  if (event_loop* loop = watching.load()) loop->post(cancel_main);
}

}  // namespace

void watch(event_loop& loop) {
  event_loop* nobody = nullptr;
  if (!watching.compare_exchange_strong(nobody, &loop))
    throw std::logic_error("run: another loop of this process handles SIGINT and SIGTERM already");
  first_signal = 0;
  cancel_main.complete = [](io::completion&) noexcept {
    if (main_task != nullptr && !main_task->done()) main_task->root.cancel();
  };
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &previous_int);
  ::sigaction(SIGTERM, &action, &previous_term);
}

void unwatch() noexcept {
  ::sigaction(SIGINT, &previous_int, nullptr);
  ::sigaction(SIGTERM, &previous_term, nullptr);
  watching = nullptr;
}

void set_main(task_state* main) noexcept { main_task = main; }

int received() noexcept { return first_signal; }

}  // namespace gyre::termination_signals
