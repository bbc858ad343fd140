// src/io/refusal_text.cpp: explains why a backend is unavailable, with a remedy.
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
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t count = ::read(fd, text, sizeof(text) - 1);
  ::close(fd);
  if (count <= 0) return -1;
  const char* const found = std::strstr(text, label);
  return found == nullptr ? -1 : std::atoi(found + std::strlen(label));
}

bool concerns_ring(const char* step) noexcept { return std::strstr(step, "io_uring") == step; }

void describe_denial(const char* step, char* out, std::size_t size) noexcept {
  const int seccomp = number_in("/proc/self/status", "\nSeccomp:");
  if (!concerns_ring(step)) {
    std::snprintf(out, size, "%s",
                  seccomp == 2 ? "a seccomp filter denies it; allow it in the container's profile"
                               : "no seccomp filter does that: a security module (SELinux)?");
    return;
  }
  const int disabled = number_in("/proc/sys/kernel/io_uring_disabled", "");
  if (disabled == 2 || (disabled == 1 && ::geteuid() != 0)) {
    std::snprintf(out, size, "kernel.io_uring_disabled is %d; sysctl kernel.io_uring_disabled=0 allows it", disabled);
  } else if (seccomp == 2) {
    std::snprintf(out, size,
                  "a seccomp filter denies it; allow io_uring_setup, _enter and _register in the container's profile");
  } else {
    std::snprintf(out, size, "neither the sysctl nor a seccomp filter does that: a security module (SELinux)?");
  }
}

void describe_absence(const char* step, char* out, std::size_t size) noexcept {
  const bool filtered = number_in("/proc/self/status", "\nSeccomp:") == 2;
  if (!concerns_ring(step)) {
    std::snprintf(
        out, size, "%s",
        filtered ? "a seccomp filter answers so; allow it in the container's profile" : "the kernel has no such call");
    return;
  }
  std::snprintf(
      out, size, "%s",
      filtered ? "a seccomp filter answers so, or the kernel (gVisor) has no io_uring" : "the kernel has no io_uring");
}

void describe_memory(char* out, std::size_t size) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    std::snprintf(out, size, "RLIMIT_MEMLOCK is %llu KiB a user, too little for a ring; raise it (ulimit -l)",
                  static_cast<unsigned long long>(limit.rlim_cur / 1024));
  else
    std::snprintf(out, size, "no memory for a ring");
}

void describe_cause(const uring::refusal& refused, char* out, std::size_t size) noexcept {
  switch (refused.error) {
    case EPERM:
    case EACCES:
      return describe_denial(refused.step, out, size);
    case ENOSYS:
      return describe_absence(refused.step, out, size);
    case ENOMEM:
      return describe_memory(out, size);
    case EINVAL:
    case ENOTSUP:
      std::snprintf(out, size, "the kernel is older than 6.1, or the sizes asked for are out of range");
      return;
    case EMFILE:
      std::snprintf(out, size, "this process is out of descriptors; raise the limit (ulimit -n)");
      return;
    case ENFILE:
      std::snprintf(out, size, "the machine is out of descriptors; raise sysctl fs.file-max");
      return;
    default:
      std::snprintf(out, size, "it does not do what it should; please report it with the kernel's version");
      return;
  }
}

}  // namespace

void describe_refusal(const uring::refusal& refused, char* out, std::size_t size) noexcept {
  char cause[160];
  describe_cause(refused, cause, sizeof(cause));
  const char* const name = ::strerrorname_np(refused.error);
  std::snprintf(out, size, "%s failed with %s: %s", refused.step, name == nullptr ? "unknown error" : name, cause);
}

}  // namespace gyre::io
