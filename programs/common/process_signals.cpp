// programs/common/process_signals.cpp
#include "programs/common/process_signals.hpp"

#include <csignal>

namespace programs {
namespace {

void change_mask(int how) noexcept {
  sigset_t hang_up;
  sigemptyset(&hang_up);
  sigaddset(&hang_up, SIGHUP);
  ::pthread_sigmask(how, &hang_up, nullptr);
}

}  // namespace

void begin_process() noexcept {
  std::signal(SIGPIPE, SIG_IGN);
  change_mask(SIG_BLOCK);
}

void release_hang_up() noexcept { change_mask(SIG_UNBLOCK); }

}  // namespace programs
