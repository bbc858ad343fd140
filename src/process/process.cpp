// src/process/process.cpp: the life of a child process.
#include <gyre/coro/cancelled.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/readiness.hpp>
#include <gyre/process/process.hpp>

#include "process_state.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gyre {

std::string exit_status::string() const {
  if (signal == 0) return "exit code " + std::to_string(code);
  const char* const name = ::sigdescr_np(signal);
  return "signal " + std::to_string(signal) + " (" + (name == nullptr ? "unknown" : name) + ")";
}

// ---- the state

process_state::process_state(started_process&& started) : id(started.id) {
  const auto adopt = [](owned_fd& end, const char* name) {
    return end ? fs::file::from_fd(end.release(), name) : fs::file();
  };
  input = adopt(started.input, "standard input of the child");
  output = adopt(started.output, "standard output of the child");
  error = adopt(started.error, "standard error of the child");
  descriptor_.fd = started.handle.release();
  code = io::opcode::wait_readable;
  target = &descriptor_;
  complete = &ended;
}

process_state::~process_state() { ::close(descriptor_.fd); }

int process_state::reap(int how) noexcept {
  siginfo_t info{};
  int answer = 0;
  do answer = ::waitid(P_PIDFD, static_cast<id_t>(descriptor_.fd), &info, WEXITED | how);
  while (answer < 0 && errno == EINTR);
  if (answer < 0) return errno;
  if (info.si_pid == 0) return EAGAIN;  // it runs
  const bool returned = info.si_code == CLD_EXITED;
  status = exit_status{.code = returned ? info.si_status : 0, .signal = returned ? 0 : info.si_status};
  return 0;
}

void process_state::look() {
  if (status) return;
  const int reason = reap(WNOHANG);
  if (reason != 0 && reason != EAGAIN) throw io_error({reason, std::generic_category()}, "wait", std::to_string(id));
}

void process_state::send_signal(int number) const {
  if (::syscall(SYS_pidfd_send_signal, descriptor_.fd, number, nullptr, 0) < 0)
    throw io_error({errno, std::generic_category()}, "send_signal", std::to_string(id));
}

void process_state::abandon() noexcept {
  if (!status && reap(WNOHANG) == EAGAIN) {
    (void)::syscall(SYS_pidfd_send_signal, descriptor_.fd, SIGKILL, nullptr, 0);
    if (event_loop* const loop = event_loop::current_or_null(); loop != nullptr) {
      loop->backend().submit(*this);
      return;
    }
    (void)reap(0);
  }
  forget();
}

void process_state::ended(io::completion& c) noexcept {
  auto& self = static_cast<process_state&>(static_cast<io::request&>(c));
  event_loop::current().backend().detach(self.descriptor_);
  (void)self.reap(0);
  self.forget();
}

// ---- what users see

process process::start(const std::vector<std::string>& arguments, const process_options& options) {
  started_process started = start_program(arguments, options);
  const int id = started.id;
  try {
    return process(*new process_state(std::move(started)));
  } catch (...) {
    ::kill(id, SIGKILL);
    ::waitpid(id, nullptr, 0);
    throw;
  }
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
  if (state_ != nullptr) std::exchange(state_, nullptr)->forget();
}

task<exit_status> process::wait() {
  process_state& state = *state_;
  for (;;) {
    state.look();
    if (state.status) co_return *state.status;
    co_await readable(state.handle());
  }
}

}  // namespace gyre
