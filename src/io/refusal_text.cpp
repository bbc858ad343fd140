// src/io/refusal_text.cpp: explains why a backend is unavailable, with a remedy.
#include <gyre/io/kernel.hpp>

#include "refusal_text.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gyre::io {
namespace {

// Returns the number after `label` in a file of /proc, or -1.
int number_in(const char* path, const char* label) noexcept {
  char text[4096] = {};
  const int fd = files().openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return -1;
  const ssize_t count = files().read(fd, text, sizeof(text) - 1);
  files().close(fd);
  if (count <= 0) return -1;
  const char* const found = std::strstr(text, label);
  return found == nullptr ? -1 : std::atoi(found + std::strlen(label));
}

bool concerns_ring(const char* step) noexcept { return std::strstr(step, "io_uring") == step; }

// Each returns a constant, or text that it has written to `room`.
using cause_room = char[160];

const char* cause_of_denial(const char* step, cause_room& room) noexcept {
  const int seccomp = number_in("/proc/self/status", "\nSeccomp:");
  if (!concerns_ring(step))
    return seccomp == 2 ? "a seccomp filter denies it; allow it in the container's profile"
                        : "no seccomp filter does that: a security module (SELinux)?";
  const int disabled = number_in("/proc/sys/kernel/io_uring_disabled", "");
  if (disabled != 2 && (disabled != 1 || ::geteuid() == 0))
    return seccomp == 2
               ? "a seccomp filter denies it; allow io_uring_setup, _enter and _register in the container's profile"
               : "neither the sysctl nor a seccomp filter does that: a security module (SELinux)?";
  std::snprintf(room, sizeof(room), "kernel.io_uring_disabled is %d; sysctl kernel.io_uring_disabled=0 allows it",
                disabled);
  return room;
}

const char* cause_of_absence(const char* step) noexcept {
  const bool filtered = number_in("/proc/self/status", "\nSeccomp:") == 2;
  if (!concerns_ring(step))
    return filtered ? "a seccomp filter answers so; allow it in the container's profile"
                    : "the kernel has no such call";
  return filtered ? "a seccomp filter answers so, or the kernel (gVisor) has no io_uring"
                  : "the kernel has no io_uring";
}

const char* cause_of_shortage(cause_room& room) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "no memory for a ring";
  std::snprintf(room, sizeof(room), "RLIMIT_MEMLOCK is %llu KiB a user, too little for a ring; raise it (ulimit -l)",
                static_cast<unsigned long long>(limit.rlim_cur / 1024));
  return room;
}

const char* cause_of(const uring::refusal& refused, cause_room& room) noexcept {
  switch (refused.error) {
    case EPERM:
    case EACCES:
      return cause_of_denial(refused.step, room);
    case ENOSYS:
      return cause_of_absence(refused.step);
    case ENOMEM:
      return cause_of_shortage(room);
    case EINVAL:
    case ENOTSUP:
      return "the kernel is older than 6.1, or the sizes asked for are out of range";
    case EMFILE:
      return "this process is out of descriptors; raise the limit (ulimit -n)";
    case ENFILE:
      return "the machine is out of descriptors; raise sysctl fs.file-max";
    default:
      return "it does not do what it should; please report it with the kernel's version";
  }
}

}  // namespace

void describe_refusal(const uring::refusal& refused, char* out, std::size_t size) noexcept {
  cause_room room;
  const char* const cause = cause_of(refused, room);
  const char* const name = ::strerrorname_np(refused.error);
  std::snprintf(out, size, "%s failed with %s: %s", refused.step, name == nullptr ? "unknown error" : name, cause);
}

}  // namespace gyre::io
