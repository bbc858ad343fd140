// src/io/pipe_pool.cpp: makes pipes, and moves bytes through them.
#include <gyre/io/kernel.hpp>
#include <gyre/io/pipe_pool.hpp>

#include "pipe_signal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace gyre::io {
namespace {

constexpr unsigned how = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;

// Returns the count, or -errno. `ready` is cleared when the call would have had to wait.
int splice_now(int from, int to, std::size_t max, bool& ready) noexcept {
  ssize_t count = 0;
  do count = files().splice(from, nullptr, to, nullptr, max, how);
  while (count < 0 && errno == EINTR);
  if (count >= 0) return static_cast<int>(count);
  if (errno == EAGAIN) ready = false;
  return -errno;
}

}  // namespace

// A short count does not mean that the socket is empty: small packets use up the places of the pipe before it is full.
int pipe_pool::pipe::fill_from(descriptor& socket, std::uint32_t max) noexcept {
  const int count = splice_now(socket.fd, writer_, max, socket.readable);
  if (count > 0) bytes_ = static_cast<std::uint32_t>(count);
  return count;
}

int pipe_pool::pipe::drain_to(descriptor& socket) noexcept {
  block_pipe_signal();
  const int count = splice_now(reader_, socket.fd, bytes_, socket.writable);
  if (count != -EAGAIN && count < static_cast<int>(bytes_)) consume_pipe_signal();
  if (count > 0) bytes_ -= static_cast<std::uint32_t>(count);
  return count;
}

pipe_pool::pipe_pool() noexcept {
  for (pipe& each : pipes_) each.next_ = std::exchange(free_, &each);
}

pipe_pool::~pipe_pool() {
  for (pipe& each : pipes_) close(each);
}

// A pipe of the default size would cost more than it saves.
bool pipe_pool::open(pipe& p) noexcept {
  int ends[2];
  if (files().pipe2(ends, O_NONBLOCK | O_CLOEXEC) < 0) return false;
  p.reader_ = ends[0];
  p.writer_ = ends[1];
  if (files().fcntl(p.writer_, F_SETPIPE_SZ, pipe_size) >= 0) return true;
  close(p);
  return false;
}

void pipe_pool::close(pipe& p) noexcept {
  if (p.reader_ < 0) return;
  files().close(std::exchange(p.reader_, -1));
  files().close(std::exchange(p.writer_, -1));
  p.bytes_ = 0;
}

// Open pipes are given back to the head of the list, so one that is not open comes only when no open one is left.
pipe_pool::pipe* pipe_pool::take() noexcept {
  if (pause_ > 0) {
    --pause_;
    return nullptr;
  }
  if (free_ == nullptr) return nullptr;
  if (free_->reader_ < 0 && !open(*free_)) {
    pause();
    return nullptr;
  }
  ++in_use_;
  ++lent_;
  return std::exchange(free_, free_->next_);
}

// Reading the rest would take longer than a new pipe.
void pipe_pool::give_back(pipe& p) noexcept {
  if (p.bytes_ > 0) close(p);
  p.next_ = std::exchange(free_, &p);
  --in_use_;
}

}  // namespace gyre::io
