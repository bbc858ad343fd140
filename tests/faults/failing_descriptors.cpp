// tests/faults/failing_descriptors.cpp: plans for the calls that create descriptors, and a limit for them.
#include "tests/faults/failing_descriptors.hpp"

#include "tests/support/planned_kernel.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace gyre_test::descriptors {
namespace {

rlimit before{};
bool limited = false;
int fillers[256];
int filled = 0;

int highest_descriptor() {
  int highest = -1;
  DIR* const directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) throw std::runtime_error("cannot read /proc/self/fd");
  const int own = ::dirfd(directory);
  while (const dirent* const entry = ::readdir(directory))
    if (const int fd = std::atoi(entry->d_name); fd != own && fd > highest) highest = fd;
  ::closedir(directory);
  return highest;
}

}  // namespace

void fail_nth(long n, int error) noexcept { planned_call::that_makes_descriptors().fail_nth(n, error); }

// RLIMIT_NOFILE limits the number of a descriptor, not the count, so the holes below it are filled first.
void limit_to(long more) {
  const int highest = highest_descriptor();
  int fd = ::dup(STDERR_FILENO);
  for (; fd < highest && filled < static_cast<int>(std::size(fillers)); fd = ::dup(STDERR_FILENO))
    fillers[filled++] = fd;
  if (fd > highest) ::close(fd);
  if (::getrlimit(RLIMIT_NOFILE, &before) < 0) throw std::runtime_error("getrlimit");
  rlimit now = before;
  now.rlim_cur = static_cast<rlim_t>(highest + 1 + more);
  if (::setrlimit(RLIMIT_NOFILE, &now) < 0) throw std::runtime_error("setrlimit");
  limited = true;
}

bool stop_failing() noexcept {
  const bool has_failed = planned_call::that_makes_descriptors().stop();
  if (std::exchange(limited, false)) ::setrlimit(RLIMIT_NOFILE, &before);
  while (filled > 0) ::close(fillers[--filled]);
  return has_failed;
}

}  // namespace gyre_test::descriptors
