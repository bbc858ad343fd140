// gyre/io/request.hpp: one I/O operation as data. For authors of operations.
#pragma once

#include <gyre/io/completion.hpp>
#include <gyre/io/descriptor.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre::io {

enum class opcode : std::uint8_t {
  accept,        ///< one connection: result is the new descriptor, close-on-exec and non-blocking
  accept_many,   ///< multishot: one delivery per connection
  connect,       ///< address/length: a socket address, read before submit returns or kept by the caller
  receive_into,  ///< address/length: the destination; result: count, 0 at end of stream
  receive_many,  ///< multishot: bytes arrive in buffers of the backend's pool
  /// multishot: the same with large buffers, each taken when data has arrived. Ends with -ENOBUFS when none is free.
  receive_large_many,
  send,          ///< address/length: bytes; result: count, may be short
  send_message,  ///< address: an io::message; result: count, may be short
  /// address: an io::message, whose lengths and flags are filled in; result: count. A datagram that did not fit is
  /// counted as far as it fitted. Descriptors that arrive with it are close-on-exec.
  receive_message,
  receive_messages_many,  ///< a message_multishot: datagrams arrive in buffers of the backend's pool
  wait_readable,          ///< result 0 when a read would not block
  /// For callers that move much at once: result 0 when a read is worth trying. Each `wait` completes only one of these.
  /// Unlike wait_readable, it relies on the target's `readable`, which the caller clears when it finds the socket
  /// empty.
  wait_bulk,
  /// result 0 when a write would not block; length: found_no_room if a write has just found none. Then an edge will
  /// come, and the backend need not look before.
  wait_writable,

  // Operations on files and paths, each an io::file_request. They wait only for the disk, so each one ends on its own.
  read,            ///< address/length: the destination; result: count, 0 at the end of the file
  write,           ///< address/length: bytes; result: count, may be short
  read_vector,     ///< address/length: an array of buffers and their number; result as read
  write_vector,    ///< address/length: an array of const_buffer and their number; result as write
  open,            ///< address: a path; result: a descriptor, close-on-exec
  close,           ///< the target's descriptor, which is closed whatever the result
  sync,            ///< flags: 1 for the data only
  stat,            ///< address: a path, flags: AT_…, second: a struct statx
  resize,          ///< offset: the new size
  rename,          ///< address, second: paths
  remove,          ///< address: a path, flags: 0 or AT_REMOVEDIR
  make_directory,  ///< address: a path
  make_symlink,    ///< address: the target path, second: the path of the link
  watch,           ///< address: a path, flags: IN_…, the target: an inotify descriptor; result: the watch
  read_directory,  ///< address/length: the destination of entries, see getdents64(2); result: bytes, 0 at the end
  send_file,       ///< flags: a file, offset/length: its range, the target: a non-blocking socket; result: count

  raw,  ///< an io::raw_request: a ring entry, passed unchanged; a backend without a ring returns EOPNOTSUPP
};

/// The length of a wait_writable. Otherwise it is 0.
inline constexpr std::uint32_t found_no_room = 1;

/// True when a request with this code is a multishot: one submission, many deliveries.
[[nodiscard]] constexpr bool is_multishot(opcode code) noexcept {
  return code == opcode::receive_many || code == opcode::receive_large_many || code == opcode::receive_messages_many ||
         code == opcode::accept_many;
}

/// True when the operation waits until its descriptor is readable, false when it waits until it is writable.
[[nodiscard]] constexpr bool reads(opcode code) noexcept {
  return code == opcode::accept || code == opcode::receive_into || code == opcode::accept_many ||
         code == opcode::receive_many || code == opcode::receive_large_many || code == opcode::receive_message ||
         code == opcode::receive_messages_many || code == opcode::wait_readable || code == opcode::wait_bulk;
}

/// True when a request with this code is a file_request.
[[nodiscard]] constexpr bool concerns_file(opcode code) noexcept {
  return code >= opcode::read && code <= opcode::send_file;
}

/// The stage of a request.
enum class phase : std::uint8_t {
  idle,       ///< only the owner refers to it
  in_flight,  ///< a backend has it: it and the memory to which it points must not move
};

struct multishot;

/// One I/O operation: the operation, its target, and the function to call on completion.
///
/// A submitted request is completed exactly once. The backend stores `result`, sets `where` to idle and appends the
/// request to the ready list; the loop then calls `complete`. No backend calls `complete` itself.
///
/// Thread:   belongs to the loop whose backend it is submitted to.
/// Lifetime: from submit to completion neither the request nor its memory may move or be destroyed, even after a
/// cancel: the kernel owns the buffer until then.
struct request : completion {
  opcode code{};
  phase where = phase::idle;
  bool cancel_requested = false;   ///< kept by the backend: a second cancel is not sent
  std::uint8_t backend_state = 0;  ///< private to the backend that has it
  std::uint32_t length = 0;
  descriptor* target = nullptr;
  union {
    void* address = nullptr;
    multishot* next_in_line;  ///< kept by the backend: a multishot has no address, and may wait in a line
  };
  int result = 0;  ///< ≥ 0: result of the system call of that name; < 0: -errno, -ECANCELED after a cancel
};

/// A request that keeps producing results until it ends or is cancelled.
///
/// For each result the backend calls `deliver` at once (in its wait, before any task resumes), and appends the request
/// to the ready list unless `listed` shows that it is there already. `complete` runs once for any number of deliveries
/// and clears `listed`. After the last result `where` is idle. The cause is the end of the stream, an error, a cancel,
/// or nothing at all; in the last case submitting it again continues.
struct multishot : request {
  /// The place of a multishot on a backend that waits for readiness.
  enum class place : std::uint8_t {
    parked,   ///< in its descriptor: an edge continues it
    in_turn,  ///< in the line of those that can continue without an edge, or being continued
    starved,  ///< in the line of those that need a buffer
  };

  bool listed = false;
  place stands = place::parked;  ///< kept by the backend

  /// `result` ≥ 0 is a descriptor or a byte count (0: end of stream), < 0 is -errno.
  /// `buffer` is an index in the pool, or no_buffer. The owner of the multishot owns the buffer from here on.
  void (*deliver)(multishot&, int result, std::uint32_t buffer) noexcept = nullptr;

  static constexpr std::uint32_t no_buffer = ~std::uint32_t{0};
};

/// A range of bytes as the kernel's vectored calls read it (same layout as struct iovec).
struct const_buffer {
  const void* data = nullptr;
  std::size_t size = 0;
};

/// The same for bytes to be filled in.
struct mutable_buffer {
  void* data = nullptr;
  std::size_t size = 0;
};

/// Same layout as struct msghdr: see sendmsg(2). In this library, zero-initialized except for the buffers.
struct message {
  void* name = nullptr;
  std::uint32_t name_length = 0;
  const_buffer* buffers = nullptr;
  std::size_t buffer_count = 0;
  void* control = nullptr;
  std::size_t control_length = 0;
  int flags = 0;
};

}  // namespace gyre::io
