// src/process/process_state.cpp: waits for a child, and reaps it when nobody else does.
#include "process_state.hpp"

#include <gyre/coro/misuse.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/event_loop.hpp>

#include "child_signal.hpp"
#include "kept_status.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

namespace gyre {
namespace {

// Detached children whose loops have ended. Lock-free, so that a child of fork can use it. There the kernel reports
// that they are not its own children.
constinit std::atomic<process_state*> orphans{nullptr};

bool child_has_ended(int pidfd) noexcept {
  pollfd ready{.fd = pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, 0) > 0;
}

}  // namespace

process_state::process_state() noexcept {
  code = io::opcode::wait_readable;
  io::request::target = &watched_;
  complete = call_member<&process_state::on_complete>;
  cancellable::cancel = call_member<&process_state::on_cancel>;
}

void process_state::on_cancel() noexcept { event_loop::current().backend().cancel(*this); }

void process_state::start(const std::vector<std::string>& arguments, const process_options& options) {
  time_limit = options.time_limit;
  pipe_limit = options.pipe_limit;
  started_process started = start_program(arguments, options);
  id = started.id;
  handle_ = std::move(started.handle);
  started_in_ = ::getpid();
  if (options.process_group) {
    const bool known = signal_group(handle(), 0) == 0;
    target_ = known ? target::group : target::group_of_unreaped;
    keeps_leader_ = !known;
  }
  program = arguments.front();
  const auto adopt = [this](owned_fd& end, const char* name) {
    if (!end) return fs::file();
    const std::string full_name = name + program;  // may throw
    return fs::file::from_fd(end.release(), full_name);
  };
  input = adopt(started.input, "standard input of ");
  output = adopt(started.output, "standard output of ");
  error = adopt(started.error, "standard error of ");
}

int process_state::reap(int how) noexcept {
  siginfo_t info{};
  int answer = 0;
  do answer = ::waitid(P_PIDFD, static_cast<id_t>(handle()), &info, WEXITED | how | (keeps_leader_ ? WNOWAIT : 0));
  while (answer < 0 && errno == EINTR);
  if (answer == 0) {
    if (info.si_pid == 0) return EAGAIN;  // still running
    const bool returned = info.si_code == CLD_EXITED;
    status = exit_status{.code = returned ? info.si_status : 0, .signal = returned ? 0 : info.si_status};
    return 0;
  }
  if (errno != ECHILD) return errno;
  if (!child_has_ended(handle())) return ECHILD;
  if (!status) status = kept_status(handle());
  return 0;
}

void process_state::look() {
  if (status) return;
  const int reason = reap(WNOHANG);
  if (reason != 0 && reason != EAGAIN) throw io_error({reason, std::generic_category()}, "wait", std::to_string(id));
}

int process_state::signal_leader(int number) const noexcept {
  return target_ == target::group_of_unreaped ? signal_unreaped(handle(), id, number) : signal_child(handle(), number);
}

// The leader may have moved to another group.
int process_state::signal(int number) const noexcept {
  if (target_ == target::child) return signal_child(handle(), number);
  const int reason = target_ == target::group ? signal_group(handle(), number) : signal_unreaped(handle(), -id, number);
  return reason == ESRCH && !status ? signal_leader(number) : reason;
}

int process_state::kill() const noexcept {
  const int reason = signal(SIGKILL);
  if (target_ == target::child || status) return reason;
  const int leader = signal_leader(SIGKILL);
  return leader == ESRCH ? reason : leader;
}

void process_state::send_signal(int number) const {
  if (const int reason = number == SIGKILL ? kill() : signal(number); reason != 0)
    throw io_error({reason, std::generic_category()}, "send_signal", std::to_string(id));
}

// A child of fork has a copy of this object, and must not kill.
bool process_state::may_kill_group() const noexcept { return target_ != target::child && started_in_ == ::getpid(); }

void process_state::close_streams() noexcept {
  if (listened_to_) return;  // the listener closes them
  for (fs::file* const each : {&input, &output, &error}) *each = fs::file();
}

process_state::listener::listener(process_state& state) noexcept : state_(state) {
  if (state_.listened_to_) misuse("two tasks communicate with one process at the same time: let one task do it");
  state_.listened_to_ = true;
}

process_state::listener::~listener() {
  state_.listened_to_ = false;
  if (state_.without_object_) state_.close_streams();
}

// From here on nobody signals the group, so its leader need not be kept as a zombie.
void process_state::let_go() noexcept {
  without_object_ = true;
  if (std::exchange(keeps_leader_, false) && status) (void)reap(WNOHANG);
}

void process_state::abandon() noexcept {
  if (!handle_) return forget();
  const bool leads_group = may_kill_group();
  int killed = leads_group ? kill() : ESRCH;
  let_go();
  if (status || reap(WNOHANG) != EAGAIN) return forget();
  if (!leads_group) killed = kill();
  if (killed != 0 && killed != ESRCH) {
    reap_later();  // it now belongs to another user and keeps running: waiting for it could take for ever
    return;
  }
  close_streams();
  if (event_loop::current_or_null() != nullptr) return watch();
  (void)reap(0);
  forget();
}

void process_state::detach() noexcept {
  let_go();
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
  watch();
}

void process_state::watch() noexcept {
  watched_ = io::descriptor{};
  watched_.fd = duplicate_ ? duplicate_.get() : handle();
  event_loop::current().backend().submit(*this);
}

void process_state::on_complete() noexcept {
  event_loop::current().backend().detach(watched_);
  if (result == -EEXIST && !duplicate_) {  // tasks wait for the handle
    duplicate_ = owned_fd::duplicate_of(handle());
    if (duplicate_ && !scope_.cancelled()) return watch();
  }
  scope_.close();
  // No result means that the loop ends, or that the kernel cannot wait for a descriptor.
  if (reap(result >= 0 ? 0 : WNOHANG) == EAGAIN)
    become_orphan();
  else
    forget();
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

// Any thread may reap an orphan, so it must not become one while a task of this thread waits for it.
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
