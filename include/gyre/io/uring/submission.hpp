// gyre/io/uring/submission.hpp: fills submission entries, one function per operation.
//
// Each function sets the whole entry but user_data, which the caller sets afterwards. Memory to which an argument
// points must stay valid until the completion has arrived (buffers, addresses, messages), or until the entry has been
// submitted (timeouts).
#pragma once

#include <gyre/io/uring/abi.hpp>

#include <cstdint>

namespace gyre::uring {

inline void prepare(submission& s, opcode code, int fd, const void* address, std::uint32_t length,
                    std::uint64_t offset = 0) noexcept {
  s = {};
  s.code = code;
  s.fd = fd;
  s.address = reinterpret_cast<std::uintptr_t>(address);
  s.length = length;
  s.offset = offset;
}

inline void prepare_nop(submission& s) noexcept { prepare(s, opcode::nop, -1, nullptr, 0); }

/// accept4(2). `flags` are SOCK_NONBLOCK and SOCK_CLOEXEC.
inline void prepare_accept(submission& s, int fd, int flags, std::uint16_t how = 0) noexcept {
  prepare(s, opcode::accept, fd, nullptr, 0);
  s.operation_flags = static_cast<std::uint32_t>(flags);
  s.ioprio = how;
}
/// Completes once per connection, with cqe_more while it continues. Since 5.19.
inline void prepare_accept_multishot(submission& s, int fd, int flags, std::uint16_t how = 0) noexcept {
  prepare_accept(s, fd, flags, static_cast<std::uint16_t>(accept_multishot | how));
}
/// connect(2). The offset field holds the length of the address.
inline void prepare_connect(submission& s, int fd, const void* address, std::uint32_t length) noexcept {
  prepare(s, opcode::connect, fd, address, 0, length);
}
inline void prepare_receive(submission& s, int fd, void* buffer, std::uint32_t length, int flags = 0,
                            std::uint16_t how = 0) noexcept {
  prepare(s, opcode::recv, fd, buffer, length);
  s.operation_flags = static_cast<std::uint32_t>(flags);
  s.ioprio = how;
}
/// Receives once into a buffer of a provided group. Since 5.19.
inline void prepare_receive_selected(submission& s, int fd, std::uint16_t group, std::uint16_t how = 0) noexcept {
  prepare_receive(s, fd, nullptr, 0, 0, how);
  s.flags = sqe_buffer_select;
  s.buffer_group = group;
}
/// Receives until it is cancelled, the stream ends or buffers run out. Since 6.0, reliable from 6.10.
inline void prepare_receive_multishot(submission& s, int fd, std::uint16_t group, std::uint16_t how = 0) noexcept {
  prepare_receive_selected(s, fd, group, static_cast<std::uint16_t>(recv_multishot | how));
}
inline void prepare_send(submission& s, int fd, const void* bytes, std::uint32_t length, int flags = 0,
                         std::uint16_t how = 0) noexcept {
  prepare(s, opcode::send, fd, bytes, length);
  s.operation_flags = static_cast<std::uint32_t>(flags);
  s.ioprio = how;
}
/// sendmsg(2), recvmsg(2). `message` is a struct msghdr.
inline void prepare_send_message(submission& s, int fd, const void* message, int flags = 0,
                                 std::uint16_t how = 0) noexcept {
  prepare(s, opcode::sendmsg, fd, message, 1);
  s.operation_flags = static_cast<std::uint32_t>(flags);
  s.ioprio = how;
}
inline void prepare_receive_message(submission& s, int fd, void* message, int flags = 0,
                                    std::uint16_t how = 0) noexcept {
  prepare(s, opcode::recvmsg, fd, message, 1);
  s.operation_flags = static_cast<std::uint32_t>(flags);
  s.ioprio = how;
}
/// The same repeatedly, until it is cancelled, fails or buffers run out. Each message goes into a buffer of a provided
/// group that begins with a struct io_uring_recvmsg_out. `message` defines the space for names and control data. Since
/// 6.0.
inline void prepare_receive_message_multishot(submission& s, int fd, const void* message, std::uint16_t group,
                                              int flags = 0, std::uint16_t how = 0) noexcept {
  prepare(s, opcode::recvmsg, fd, message, 1);
  s.operation_flags = static_cast<std::uint32_t>(flags);
  s.ioprio = static_cast<std::uint16_t>(recv_multishot | how);
  s.flags = sqe_buffer_select;
  s.buffer_group = group;
}
/// `events` are POLLIN and so on, as in poll(2).
inline void prepare_poll(submission& s, int fd, std::uint32_t events) noexcept {
  prepare(s, opcode::poll_add, fd, nullptr, 0);
  s.operation_flags = events;
}
/// Completes for each new readiness, edge-triggered. Since 5.13.
inline void prepare_poll_multishot(submission& s, int fd, std::uint32_t events) noexcept {
  prepare_poll(s, fd, events);
  s.length = poll_add_multi;
}
/// Asks for the end of the operation with `user_data`. Its own completion only reports whether that operation was
/// found.
inline void prepare_cancel(submission& s, std::uint64_t user_data) noexcept {
  prepare(s, opcode::async_cancel, -1, nullptr, 0);
  s.address = user_data;
}
/// The same for every operation on an open descriptor. Since 5.19.
inline void prepare_cancel_fd(submission& s, int fd) noexcept {
  prepare(s, opcode::async_cancel, fd, nullptr, 0);
  s.operation_flags = cancel_fd | cancel_all;
}
/// The same for every operation of the ring. Since 5.19.
inline void prepare_cancel_everything(submission& s) noexcept {
  prepare(s, opcode::async_cancel, -1, nullptr, 0);
  s.operation_flags = cancel_any | cancel_all;
}
inline void prepare_close(submission& s, int fd) noexcept { prepare(s, opcode::close, fd, nullptr, 0); }
inline void prepare_read(submission& s, int fd, void* buffer, std::uint32_t length, std::uint64_t offset) noexcept {
  prepare(s, opcode::read, fd, buffer, length, offset);
}
inline void prepare_write(submission& s, int fd, const void* bytes, std::uint32_t length,
                          std::uint64_t offset) noexcept {
  prepare(s, opcode::write, fd, bytes, length, offset);
}
/// `how` is 1 for fdatasync.
inline void prepare_fsync(submission& s, int fd, std::uint32_t how = 0) noexcept {
  prepare(s, opcode::fsync, fd, nullptr, 0);
  s.operation_flags = how;
}
inline void prepare_openat(submission& s, int directory, const char* path, int flags, std::uint32_t mode) noexcept {
  prepare(s, opcode::openat, directory, path, mode);
  s.operation_flags = static_cast<std::uint32_t>(flags);
}
/// A kernel timer. `when` is read on submission. Timers in user space are cheaper.
inline void prepare_timeout(submission& s, const time* when, std::uint32_t completions, std::uint32_t flags) noexcept {
  prepare(s, opcode::timeout, -1, when, 1, completions);
  s.operation_flags = flags;
}

/// splice(2); one of the two descriptors must be a pipe. An offset of -1 means the current position, or that there is
/// none.
inline void prepare_splice(submission& s, int from, std::int64_t from_offset, int to, std::int64_t to_offset,
                           std::uint32_t length, std::uint32_t flags) noexcept {
  prepare(s, opcode::splice, to, nullptr, length, static_cast<std::uint64_t>(to_offset));
  s.address = static_cast<std::uint64_t>(from_offset);
  s.file_index = from;
  s.operation_flags = flags;
}

}  // namespace gyre::uring
