// src/runtime/termination_watch.cpp: SIGINT and SIGTERM request a stop, and the second signal forces it.
#include <gyre/io/printable.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/waiting_tasks.hpp>
#include <gyre/tasks/task_state.hpp>

#include "termination_watch.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>

namespace gyre {

namespace {

constexpr std::array termination_signals{SIGINT, SIGTERM};

struct seconds_text {
  char text[32];

  explicit seconds_text(std::chrono::nanoseconds time) noexcept {
    std::snprintf(text, sizeof(text), "%g", std::chrono::duration<double>(time).count());
  }
};

}  // namespace

termination_watch::termination_watch(event_loop& loop, std::chrono::nanoseconds after_drain,
                                     std::chrono::nanoseconds after_cancel)
    : loop_(loop), after_drain_(after_drain), after_cancel_(after_cancel) {
  decide = call_member<&termination_watch::on_level>;
  fire = call_member<&termination_watch::on_time>;
  arrived = call_member<&termination_watch::on_signal>;
  for (const int number : termination_signals) {
    const int error = take_signal(number, signal_rank::termination, *this);
    if (error == 0) continue;
    release_signals();
    if (error == EBUSY) throw std::logic_error("run: another loop of this process handles SIGINT and SIGTERM already");
    throw std::system_error(error, std::generic_category(), "run: handling of SIGINT and SIGTERM");
  }
  loop_.stops().take_authority(*this);
}

// In the signal handler.
void termination_watch::on_signal(int number) noexcept {
  if (stop_observers::level() == stop_level::forced) ::_exit(128 + number);
  last_signal_ = number;
  // A request_stop() by the program does not turn the first signal into the second.
  const bool is_first = signals_.fetch_add(1) == 0;
  loop_.stops().raise_to(is_first ? stop_level::requested : stop_level::forced);
}

termination_watch::~termination_watch() {
  release_signals();
  loop_.timers().disarm(*this);
  loop_.stops().give_up_authority();
}

void termination_watch::release_signals() noexcept {
  for (const int number : termination_signals) release_signal(number, signal_rank::termination, *this);
}

void termination_watch::limit_to(std::chrono::nanoseconds from_now) noexcept {
  loop_.timers().disarm(*this);
  deadline = deadline_after(from_now);
  if (deadline != io::wait_forever) loop_.timers().arm(*this);
}

stop_level termination_watch::on_level(stop_level level, bool observed, int servers) noexcept {
  if (level == stop_level::requested && !std::exchange(decided_, true) && !observed) {
    cancelled_by_ = cause::nobody_observes;
    if (main_ != nullptr && !main_->done()) main_->root.cancel();
    limit_to(after_drain_);
    return stop_level::forced;
  }
  if (level == stop_level::requested) {
    if (servers == 0 && !armed()) limit_to(after_drain_);
    return level;
  }
  if (cancelled_by_ == cause::none) cancelled_by_ = cause::force;
  if (cancelled_by_ == cause::force) cancel_all();
  return level;
}

// A task may be unable to end: a function on a thread does not return, or the kernel does not give a request back.
void termination_watch::cancel_all() noexcept {
  if (std::exchange(all_cancelled_, true)) return;
  limit_to(after_cancel_);
  loop_.root_scope().cancel();
}

void termination_watch::on_time() noexcept {
  if (all_cancelled_) end_process();
  if (cancelled_by_ == cause::nobody_observes) return cancel_all();
  const seconds_text seconds(after_drain_);
  print_diagnostic({"gyre: the program was asked to stop, its servers have drained, and it still runs ", seconds.text,
                    " s later (run_options::after_drain): it is cancelled"});
  loop_.stops().raise_to(stop_level::forced);
}

// Without exit(3): a stuck thread may hold the lock of a stream of the C library.
void termination_watch::end_process() const noexcept {
  const seconds_text seconds(after_cancel_);
  print_diagnostic({"gyre: the program was cancelled, and has not ended ", seconds.text,
                    " s later (run_options::after_cancel): the process ends. Tasks of the main loop that have not:"});
  if (print_waiting_tasks(loop_.root_scope()) == 0) print_diagnostic({"  none; another loop has some"});
  ::_exit(code());
}

int termination_watch::code() const noexcept {
  const int number = last_signal_;
  return 128 + (number != 0 ? number : SIGTERM);  // request_stop() counts as SIGTERM
}

int termination_watch::code_after(const task_state& main) const noexcept {
  if (cancelled_by_ == cause::none || (cancelled_by_ == cause::nobody_observes && !main.was_cancelled())) return 0;
  return code();
}

}  // namespace gyre
