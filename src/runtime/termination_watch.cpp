// src/runtime/termination_watch.cpp: SIGINT and SIGTERM request a stop, and the second signal forces it.
#include <gyre/io/printable.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/event_loop.hpp>
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

constexpr std::array termination_signals{SIGINT, SIGTERM};

termination_watch::termination_watch(event_loop& loop, std::chrono::nanoseconds after_drain)
    : loop_(loop), after_drain_(after_drain) {
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

stop_level termination_watch::on_level(stop_level level, bool observed, int servers) noexcept {
  if (level == stop_level::requested && !std::exchange(decided_, true) && !observed) {
    cancelled_by_ = cause::nobody_observes;
    level = stop_level::forced;
  }
  if (level == stop_level::requested) {
    if (servers > 0 || armed()) return level;
    deadline = deadline_after(after_drain_);
    if (deadline != io::wait_forever) loop_.timers().arm(*this);
    return level;
  }
  loop_.timers().disarm(*this);
  if (cancelled_by_ == cause::none) cancelled_by_ = cause::force;
  if (cancelled_by_ == cause::force)
    loop_.root_scope().cancel();
  else if (main_ != nullptr && !main_->done())
    main_->root.cancel();
  return level;
}

void termination_watch::on_time() noexcept {
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%g", std::chrono::duration<double>(after_drain_).count());
  print_diagnostic({"gyre: the program was asked to stop, its servers have drained, and it still runs ", seconds,
                    " s later (run_options::after_drain): it is cancelled"});
  loop_.stops().raise_to(stop_level::forced);
}

int termination_watch::code_after(const task_state& main) const noexcept {
  if (cancelled_by_ == cause::none || (cancelled_by_ == cause::nobody_observes && !main.was_cancelled())) return 0;
  const int number = last_signal_;
  return 128 + (number != 0 ? number : SIGTERM);  // request_stop() counts as SIGTERM
}

}  // namespace gyre
