// src/io/backend_choice.cpp: which backend a process uses, and why.
#include <gyre/io/backend_choice.hpp>

#include "epoll_backend.hpp"
#include "uring_backend.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace gyre::io {
namespace {

constexpr uring::capabilities everything{true, true, true, true, true, true};

int sysctl_disabled() noexcept {
  char text[16] = {};
  const int fd = ::open("/proc/sys/kernel/io_uring_disabled", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t count = ::read(fd, text, sizeof(text) - 1);
  ::close(fd);
  return count > 0 ? std::atoi(text) : -1;
}

const char* likely_cause(int error) noexcept {
  switch (error) {
    case EPERM:
    case EACCES:
      return sysctl_disabled() > 0 ? "sysctl kernel.io_uring_disabled forbids it"
                                   : "a seccomp filter (a container's profile) denies it";
    case ENOSYS:
      return "the kernel or a sandbox does not have it";
    case EINVAL:
    case ENOTSUP:
      return "the kernel is older than 6.1";
    case ENOMEM:
      return "the memory limit (ulimit -l) is too small for a ring";
    case EMFILE:
    case ENFILE:
      return "no descriptor is left (ulimit -n)";
    default:
      return "unexpected";
  }
}

void explain_refusal(backend_choice& choice, const uring::refusal& refused) noexcept {
  choice.error = refused.error;
  std::snprintf(choice.reason, sizeof(choice.reason), "epoll: %s failed with %s: %s", refused.step,
                ::strerrorname_np(refused.error), likely_cause(refused.error));
}

backend* try_uring(const backend_options& options, uring::refusal& refused) {
  auto* const made = new uring_backend(options, everything, refused);
  if (refused.error == 0) return made;
  delete made;
  return nullptr;
}

// Gives false, with the error in `choice`, when the variable says something else than it may.
bool read_environment(backend_kind& kind, backend_choice& choice) noexcept {
  const char* const wish = std::getenv("GYRE_BACKEND");
  const std::string_view word = wish == nullptr ? "auto" : wish;
  if (word == "io_uring")
    kind = backend_kind::io_uring;
  else if (word == "epoll")
    kind = backend_kind::epoll;
  else if (word != "auto" && !word.empty()) {
    choice.error = EINVAL;
    std::snprintf(choice.reason, sizeof(choice.reason), "GYRE_BACKEND=%.60s: expected auto, io_uring or epoll", wish);
    return false;
  }
  return true;
}

backend_owner make_epoll(const backend_options& options, backend_choice& choice) {
  int error = 0;
  backend_owner made(new epoll_backend(options, error));
  choice.kind = backend_kind::epoll;
  if (error == 0) return made;
  choice.error = error;
  std::snprintf(choice.reason, sizeof(choice.reason), "epoll_create1 or eventfd failed with %s: no descriptor is left?",
                ::strerrorname_np(error));
  return {};
}

backend_choice probe() noexcept {
  backend_choice choice;
  uring::refusal refused;
  try {
    const backend_owner made(try_uring(backend_options{.buffer_count = 64}, refused));
    if (made) {
      choice.kind = backend_kind::io_uring;
      std::snprintf(choice.reason, sizeof(choice.reason), "io_uring: it passed the self-test");
    }
  } catch (const std::bad_alloc&) {
    refused = {ENOMEM, "allocating the ring"};
  }
  if (refused.error != 0) explain_refusal(choice, refused);
  return choice;
}

}  // namespace

const backend_choice& process_backend_choice() noexcept {
  static const backend_choice choice = probe();
  return choice;
}

backend_owner make_backend(const backend_options& options, backend_choice& choice) {
  choice = {};
  backend_kind kind = options.kind;
  if (kind == backend_kind::automatic && !read_environment(kind, choice)) return {};
  const bool asked_for = kind != backend_kind::automatic;
  if (kind == backend_kind::automatic) {
    choice = process_backend_choice();
    kind = choice.kind;
  } else {
    std::snprintf(choice.reason, sizeof(choice.reason), "%s: asked for by name",
                  kind == backend_kind::epoll ? "epoll" : "io_uring");
  }
  if (kind == backend_kind::io_uring) {
    uring::refusal refused;
    if (backend* const made = try_uring(options, refused)) {
      choice.kind = backend_kind::io_uring;
      return backend_owner(made);
    }
    explain_refusal(choice, refused);
    if (asked_for) {
      std::snprintf(choice.reason, sizeof(choice.reason), "io_uring was asked for, but %s failed: %s", refused.step,
                    likely_cause(refused.error));
      return {};
    }
  }
  return make_epoll(options, choice);
}

}  // namespace gyre::io
