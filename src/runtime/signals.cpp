// src/runtime/signals.cpp: SIGINT and SIGTERM become a cancel of the main task.
#include <gyre/loop/event_loop.hpp>
#include <gyre/tasks/task_state.hpp>

#include "signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace gyre {
namespace {

constexpr std::array termination_signals{SIGINT, SIGTERM};

}  // namespace

termination_watch::termination_watch(event_loop& loop) : loop_(loop) {
  cancel_main_.watch = this;
  cancel_main_.complete = [](io::completion& c) noexcept {
    task_state* const main = static_cast<request_to_cancel&>(c).watch->main_;
    if (main != nullptr && !main->done()) main->root.cancel();
  };
  arrived = [](signal_owner& owner, int number) noexcept {
    auto& self = static_cast<termination_watch&>(owner);
    int none = 0;
    if (!self.first_.compare_exchange_strong(none, number)) ::_exit(128 + number);
    self.loop_.post(self.cancel_main_);
  };
  for (const int number : termination_signals) {
    const int error = take_signal(number, signal_rank::termination, *this);
    if (error == 0) continue;
    stop();
    if (error == EBUSY) throw std::logic_error("run: another loop of this process handles SIGINT and SIGTERM already");
    throw std::system_error(error, std::generic_category(), "run: handling of SIGINT and SIGTERM");
  }
}

termination_watch::~termination_watch() { stop(); }

void termination_watch::stop() noexcept {
  for (const int number : termination_signals) release_signal(number, signal_rank::termination, *this);
  // A signal may have come after the last turn of the loop. What its handler has posted lies in here.
  if (first_ != 0) loop_.turn(false);
}

}  // namespace gyre
