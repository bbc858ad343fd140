// src/process/child_signal.cpp: pidfd_send_signal, whose flags are missing in the headers of older systems.
#include "child_signal.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace gyre {
namespace {

int send(int pidfd, int number, unsigned flags) noexcept {
  return ::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, flags) < 0 ? errno : 0;
}

}  // namespace

int signal_child(int pidfd, int number) noexcept { return send(pidfd, number, 0); }

int signal_group(int pidfd, int number) noexcept {
  constexpr unsigned process_group = 1U << 2U;  // PIDFD_SIGNAL_PROCESS_GROUP
  return send(pidfd, number, process_group);
}

int signal_unreaped(int pidfd, int receiver, int number) noexcept {
  siginfo_t info;
  if (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG | WNOWAIT) < 0) return ESRCH;
  return ::kill(receiver, number) < 0 ? errno : 0;
}

}  // namespace gyre
