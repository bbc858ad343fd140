// src/io/uring_files.cpp: operations on files. A thread of the pool does those that the ring cannot do.
#include "uring_backend.hpp"
#include "uring_key.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace gyre::io {

void uring_backend::fill_file(uring::submission& entry, const file_request& r) noexcept {
  const int fd = r.target->fd;
  // Data in the page cache is copied during the submission, while the loop waits. Not for this many bytes.
  constexpr std::uint32_t much = 1U << 20U;
  const auto two_paths = [&](uring::opcode code) {
    uring::prepare(entry, code, fd, r.address, 0, reinterpret_cast<std::uintptr_t>(r.second));
  };
  switch (r.code) {
    case opcode::read:
      uring::prepare_read(entry, fd, r.address, r.length, r.offset);
      if (r.length >= much) entry.flags = uring::sqe_async;
      return;
    case opcode::write:
      return uring::prepare_write(entry, fd, r.address, r.length, r.offset);
    case opcode::read_vector:
      return uring::prepare(entry, uring::opcode::readv, fd, r.address, r.length, r.offset);
    case opcode::write_vector:
      return uring::prepare(entry, uring::opcode::writev, fd, r.address, r.length, r.offset);
    case opcode::open:
      return uring::prepare_openat(entry, fd, static_cast<const char*>(r.address),
                                   static_cast<int>(r.flags) | O_CLOEXEC, r.mode);
    case opcode::close:
      return uring::prepare_close(entry, fd);
    case opcode::sync:
      return uring::prepare_fsync(entry, fd, r.flags);
    case opcode::stat:
      two_paths(uring::opcode::statx);
      entry.length = STATX_BASIC_STATS | STATX_BTIME;
      entry.operation_flags = r.flags;
      return;
    case opcode::rename:
      two_paths(uring::opcode::renameat);
      entry.length = static_cast<std::uint32_t>(fd);
      entry.operation_flags = r.flags;
      return;
    case opcode::remove:
      uring::prepare(entry, uring::opcode::unlinkat, fd, r.address, 0);
      entry.operation_flags = r.flags;
      return;
    case opcode::make_directory:
      return uring::prepare(entry, uring::opcode::mkdirat, fd, r.address, r.mode);
    case opcode::make_symlink:
      return two_paths(uring::opcode::symlinkat);
    default:
      return uring::prepare_nop(entry);  // offloaded
  }
}

// A transfer at the position of a file is one call of read(2) or write(2). When the kernel cuts a write of the ring
// short, it tries the rest by itself, and does not move the position when that fails (Linux 6.18): the next write would
// replace the bytes that were just written. Other processes may share the position, so it cannot be kept here.
bool uring_backend::must_offload(const request& r) noexcept {
  switch (r.code) {
    case opcode::read:
    case opcode::write:
    case opcode::read_vector:
    case opcode::write_vector:
      return static_cast<const file_request&>(r).offset == file_request::current_position;
    default:
      return r.code == opcode::resize || r.code == opcode::watch || r.code == opcode::read_directory ||
             r.code == opcode::send_file;
  }
}

void uring_backend::offload(request& r) noexcept {
  r.backend_state |= state_offloaded;
  offloaded_.submit(static_cast<file_request&>(r));
}

// Same as resumes(). A file that reports EAGAIN instead of waiting is left to a thread.
bool uring_backend::file_resumes(request& r, int& result) noexcept {
  if (result != -EINTR && result != -EAGAIN) return false;
  if (r.code == opcode::close) {
    result = 0;  // an interrupted close has closed the descriptor all the same
    return false;
  }
  if (r.cancel_requested) {
    result = -ECANCELED;
    return false;
  }
  result == -EINTR ? queue(r) : offload(r);
  return true;
}

// Returns true if any request had ended.
bool uring_backend::take_offloaded(ready_list& ready) noexcept {
  ready_list ended;
  offloaded_.take_ended(ended);
  const bool some = !ended.empty();
  while (!ended.empty()) {
    auto& r = static_cast<request&>(ended.pop_front());
    set_idle(r);
    ready.push_back(r);
  }
  return some;
}

void uring_backend::settle_offloaded() noexcept {
  ready_list ended;
  offloaded_.settle(ended);
  while (!ended.empty()) set_aside(static_cast<request&>(ended.pop_front()));
}

}  // namespace gyre::io
