// tests/support/full_standard_error.hpp: standard error that takes nothing.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace gyre_test {

/// Standard error is a pipe that is full. For a child process.
class full_standard_error {
 public:
  full_standard_error() {
    if (::pipe2(ends_, O_NONBLOCK) != 0) return;
    ::fcntl(ends_[1], F_SETPIPE_SZ, 4096);
    const std::string filler(4096, 'f');
    while (::write(ends_[1], filler.data(), filler.size()) > 0) {
    }
    ::fcntl(ends_[1], F_SETFL, 0);  // blocking, as a shell leaves it
    ::dup2(ends_[1], STDERR_FILENO);
  }
  std::string read() const {
    std::string text(65'536, '\0');
    const ssize_t n = ::read(ends_[0], text.data(), text.size());
    text.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return text;
  }
  void leave() const { ::close(ends_[0]); }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace gyre_test
