// src/process/process.cpp: the public functions of a child process.
#include <gyre/coro/misuse.hpp>
#include <gyre/process/process.hpp>

#include "conversation.hpp"
#include "process_state.hpp"

#include <signal.h>

namespace gyre {

process process::start(const std::vector<std::string>& arguments, const process_options& options) {
  process_state::reap_orphans();
  process child(*new process_state);
  child.state_->owner.expect_own("start");
  child.state_->start(arguments, options);
  return child;
}

process process::start_shell(std::string_view command, const process_options& options) {
  return start({"/bin/sh", "-c", std::string(command)}, options);
}

void process::abandon(process_state* state) noexcept {
  state->owner.expect_own("destructor");
  state->abandon();
}

process_state& process::child(const char* operation) const noexcept {
  if (state_ == nullptr) [[unlikely]]
    misuse("%s on a process that was moved from or detached: use the object that it was moved to, or do it first",
           operation);
  state_->owner.expect_own(operation);
  return *state_;
}

int process::id() const noexcept { return child("id").id; }
fs::file& process::input() const noexcept { return child("input").input; }
fs::file& process::output() const noexcept { return child("output").output; }
fs::file& process::error() const noexcept { return child("error").error; }
void process::send_signal(int number) { child("send_signal").send_signal(number); }
void process::terminate() { child("terminate").send_signal(SIGTERM); }
void process::kill() { child("kill").send_signal(SIGKILL); }
void process::detach() noexcept {
  if (state_ == nullptr) return;
  state_->owner.expect_own("detach");
  state_.release()->detach();
}

GYRE_CORO_WRAPPER task<exit_status> process::wait() { return wait_for_end(child("wait").add_waiter()); }

GYRE_CORO_WRAPPER task<process_result> process::communicate(std::string text, std::size_t limit) {
  return converse(child("communicate").add_waiter(), std::move(text), limit);
}

}  // namespace gyre
