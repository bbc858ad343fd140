// tests/fs/full_disk.hpp: disks and files that cannot grow.
#pragma once

#include "tests/fs/scratch.hpp"
#include "tests/support/denied_call.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>

namespace gyre_test {

/// While it exists, files of this process cannot grow beyond `size`. The kernel answers EFBIG.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t size) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = size, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;
  ~file_size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_{};
};

/// Runs `body`, which returns a string, in a child process in which `disk` is a file system of two mebibytes. Where it
/// cannot be mounted, the text is "mounting is not allowed".
template <class Body>
child_outcome with_small_disk(const std::string& disk, Body body) {
  std::filesystem::create_directory(disk);
  return in_child_process([&]() -> std::string {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", disk.c_str(), "tmpfs", 0, "size=2m") != 0)
      return "mounting is not allowed";
    return body();
  });
}

}  // namespace gyre_test
