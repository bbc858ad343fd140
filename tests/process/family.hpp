// tests/process/family.hpp: children that have children of their own, and access to these.
#pragma once

#include "tests/process/children.hpp"

#include <gyre/io/owned_fd.hpp>
#include <gyre/io/pipe.hpp>

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

namespace gyre_test {

/// A process that is not a child of this one. It is found by its number while it runs, and killed at the end.
class stranger {
 public:
  explicit stranger(int id) : id_(id), handle_(static_cast<int>(::syscall(SYS_pidfd_open, id, 0))) {
    EXPECT_TRUE(handle_) << "there is no process " << id;
  }
  stranger(const stranger&) = delete;
  stranger& operator=(const stranger&) = delete;
  ~stranger() { kill(); }

  [[nodiscard]] bool runs() const {
    pollfd ready{.fd = handle_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, 0) == 0;
  }
  void kill() const {
    if (runs()) ::kill(id_, SIGKILL);
  }

 private:
  int id_;
  gyre::owned_fd handle_;
};

/// A pipe to which a whole family may write. It ends when the last of them has ended.
class family_pipe {
 public:
  family_pipe() : ends_(gyre::open_pipe()) {}

  /// For an option. After the start, the parent's copy must be closed.
  [[nodiscard]] gyre::redirect writer() const { return gyre::redirect::descriptor(ends_.writer.get()); }
  void close_writer() { ends_.writer.close(); }

  /// Blocks until there is a line. Returns "" at the end.
  [[nodiscard]] std::string line() const {
    std::string got;
    for (char next = 0; ::read(ends_.reader.get(), &next, 1) == 1 && next != '\n';) got += next;
    return got;
  }
  [[nodiscard]] bool all_ended() {
    close_writer();
    constexpr int patience = 20'000;
    pollfd ready{.fd = ends_.reader.get(), .events = POLLIN, .revents = 0};
    char some[64];
    while (::poll(&ready, 1, patience) == 1)
      if (::read(ends_.reader.get(), some, sizeof(some)) == 0) return true;
    return false;
  }

 private:
  gyre::pipe_descriptors ends_;
};

inline gyre::process_options in_group() { return {.process_group = true}; }

}  // namespace gyre_test
