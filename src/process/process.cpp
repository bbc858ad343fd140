// src/process/process.cpp: a child process as its users see it.
#include <gyre/loop/readiness.hpp>
#include <gyre/process/process.hpp>

#include "process_state.hpp"

#include <signal.h>

#include <cstring>

namespace gyre {

std::string exit_status::string() const {
  if (unknown) return "status unknown";
  if (signal == 0) return "exit code " + std::to_string(code);
  const char* const name = ::sigdescr_np(signal);
  return "signal " + std::to_string(signal) + " (" + (name == nullptr ? "unknown" : name) + ")";
}

process process::start(const std::vector<std::string>& arguments, const process_options& options) {
  process_state::reap_orphans();
  process child(*new process_state);
  child.state_->start(arguments, options);
  return child;
}

process process::start_shell(std::string_view command, const process_options& options) {
  return start({"/bin/sh", "-c", std::string(command)}, options);
}

process::~process() {
  if (state_ != nullptr) state_->abandon();
}

int process::id() const noexcept { return state_->id; }
fs::file& process::input() const noexcept { return state_->input; }
fs::file& process::output() const noexcept { return state_->output; }
fs::file& process::error() const noexcept { return state_->error; }
void process::send_signal(int number) { state_->send_signal(number); }
void process::terminate() { send_signal(SIGTERM); }
void process::kill() { send_signal(SIGKILL); }
void process::detach() noexcept {
  if (state_ != nullptr) std::exchange(state_, nullptr)->detach();
}

task<exit_status> process::wait() {
  process_state& state = *state_;
  const process_state::waiter here(state);
  for (;;) {
    state.look();
    if (state.status) co_return *state.status;
    co_await readable(state.handle());
  }
}

}  // namespace gyre
