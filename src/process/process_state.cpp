// src/process/process_state.cpp: waiting for a child, and whose turn that is when nobody asks any more.
#include "process_state.hpp"

#include <gyre/io/io_error.hpp>
#include <gyre/loop/event_loop.hpp>

#include "kept_status.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

namespace gyre {
namespace {

// Detached children whose loops have ended. Without a lock, so that a child of fork can use it; the kernel tells it
// that they are not its own.
constinit std::atomic<process_state*> orphans{nullptr};

bool child_has_ended(int pidfd) noexcept {
  pollfd ready{.fd = pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, 0) > 0;
}

}  // namespace

process_state::process_state() noexcept {
  code = io::opcode::wait_readable;
  target = &descriptor_;
  complete = &ended;
  cancellable::cancel = [](cancellable& c) noexcept {
    event_loop::current().backend().cancel(static_cast<process_state&>(c));
  };
}

process_state::~process_state() {
  if (descriptor_.fd >= 0) ::close(descriptor_.fd);
}

void process_state::start(const std::vector<std::string>& arguments, const process_options& options) {
  started_process started = start_program(arguments, options);
  id = started.id;
  descriptor_.fd = started.handle.release();
  const auto adopt = [](owned_fd& end, const char* name) {
    return end ? fs::file::from_fd(end.release(), name) : fs::file();
  };
  input = adopt(started.input, "standard input of the child");
  output = adopt(started.output, "standard output of the child");
  error = adopt(started.error, "standard error of the child");
}

int process_state::reap(int how) noexcept {
  siginfo_t info{};
  int answer = 0;
  do answer = ::waitid(P_PIDFD, static_cast<id_t>(descriptor_.fd), &info, WEXITED | how);
  while (answer < 0 && errno == EINTR);
  if (answer == 0) {
    if (info.si_pid == 0) return EAGAIN;  // it runs
    const bool returned = info.si_code == CLD_EXITED;
    status = exit_status{.code = returned ? info.si_status : 0, .signal = returned ? 0 : info.si_status};
    return 0;
  }
  if (errno != ECHILD) return errno;
  if (!child_has_ended(descriptor_.fd)) return ECHILD;
  status = kept_status(descriptor_.fd);
  return 0;
}

void process_state::look() {
  if (status) return;
  const int reason = reap(WNOHANG);
  if (reason != 0 && reason != EAGAIN) throw io_error({reason, std::generic_category()}, "wait", std::to_string(id));
}

int process_state::signal(int number) const noexcept {
  return ::syscall(SYS_pidfd_send_signal, descriptor_.fd, number, nullptr, 0) < 0 ? errno : 0;
}

void process_state::send_signal(int number) const {
  if (const int reason = signal(number); reason != 0)
    throw io_error({reason, std::generic_category()}, "send_signal", std::to_string(id));
}

void process_state::close_streams() noexcept {
  for (fs::file* const each : {&input, &output, &error}) *each = fs::file();
}

void process_state::abandon() noexcept {
  if (descriptor_.fd < 0 || status || reap(WNOHANG) != EAGAIN) {
    forget();
    return;
  }
  if (const int reason = signal(SIGKILL); reason != 0 && reason != ESRCH) {
    reap_later();  // it belongs to another user by now, and runs on: to wait for it could last for ever
    return;
  }
  close_streams();
  if (event_loop* const loop = event_loop::current_or_null(); loop != nullptr) {
    loop->backend().submit(*this);
    return;
  }
  (void)reap(0);
  forget();
}

void process_state::detach() noexcept {
  if (status || reap(WNOHANG) != EAGAIN)
    forget();
  else
    reap_later();
}

void process_state::reap_later() noexcept {
  close_streams();
  event_loop* const loop = event_loop::current_or_null();
  if (loop == nullptr || loop->root_scope().cancelled()) {
    become_orphan();
    return;
  }
  context_.leaf = this;
  scope_.open(context_, &loop->root_scope());
  loop->backend().submit(*this);
}

void process_state::ended(io::completion& c) noexcept {
  auto& self = static_cast<process_state&>(static_cast<io::request&>(c));
  event_loop::current().backend().detach(self.descriptor_);
  self.scope_.close();
  // Without a result its loop ends, or the kernel cannot wait for a descriptor.
  if (self.reap(self.result >= 0 ? 0 : WNOHANG) == EAGAIN)
    self.become_orphan();
  else
    self.forget();
}

void process_state::forget() noexcept {
  if (waiters_ > 0)
    let_go_ = true;
  else
    delete this;
}

void process_state::waiter_left() noexcept {
  if (--waiters_ > 0 || !let_go_) return;
  if (status)
    forget();
  else
    become_orphan();
}

// Orphans may be reaped on any thread: not while a task of this one waits.
void process_state::become_orphan() noexcept {
  if (waiters_ > 0) {
    let_go_ = true;
    return;
  }
  next_orphan_ = orphans.load(std::memory_order_relaxed);
  while (!orphans.compare_exchange_weak(next_orphan_, this, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void process_state::reap_orphans() noexcept {
  if (orphans.load(std::memory_order_relaxed) == nullptr) return;
  for (process_state* each = orphans.exchange(nullptr, std::memory_order_acquire); each != nullptr;) {
    process_state* const next = each->next_orphan_;
    if (each->reap(WNOHANG) == EAGAIN)
      each->become_orphan();
    else
      each->forget();
    each = next;
  }
}

}  // namespace gyre
