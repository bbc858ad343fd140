// src/process/kept_status.cpp: asks for a kept exit status; older headers lack PIDFD_GET_INFO.
#include "kept_status.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdint>

namespace gyre {
namespace {

// See linux/pidfd.h.
struct pidfd_information {
  std::uint64_t mask;
  std::uint64_t cgroup;
  std::uint32_t ids[11];
  std::int32_t exit_code;
};
static_assert(sizeof(pidfd_information) == 64);

constexpr std::uint64_t wants_exit = 1U << 3U;
constexpr unsigned long get_information = _IOWR(0xFF, 11, pidfd_information);

// The kernel stores the status of a process before the process is gone. The descriptor hangs up only after that.
void wait_until_reaped(int pidfd) noexcept {
  constexpr int patience = 100;  // ms; it takes microseconds
  pollfd hung_up{.fd = pidfd, .events = 0, .revents = 0};
  (void)::poll(&hung_up, 1, patience);
}

}  // namespace

exit_status kept_status(int pidfd) noexcept {
  pidfd_information information{};
  for (bool again : {true, false}) {
    information.mask = wants_exit;
    // ESRCH: the child was reaped during the call, after the check for a stored status and
    // before the search for a process.
    const bool answered = ::ioctl(pidfd, get_information, &information) >= 0;
    if (!answered && (errno != ESRCH || !again)) break;
    if (answered && (information.mask & wants_exit) != 0) {
      const int status = information.exit_code;
      if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
      return {.code = WEXITSTATUS(status)};
    }
    if (again) wait_until_reaped(pidfd);
  }
  return {.unknown = true};
}

}  // namespace gyre
