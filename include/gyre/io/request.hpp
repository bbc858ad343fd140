// gyre/io/request.hpp: one I/O operation as data.
#pragma once

#include <gyre/io/completion.hpp>
#include <gyre/io/descriptor.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre::io {

enum class opcode : std::uint8_t {
  accept,        ///< one connection: result is the new descriptor, close-on-exec and non-blocking
  accept_many,   ///< multishot: a delivery for every connection
  connect,       ///< address/length: a socket address, read before submit returns or kept by the caller
  receive,       ///< address/length: where bytes go; result: count, 0 at end of stream
  receive_many,  ///< multishot: bytes arrive in buffers of the backend's pool
  send,          ///< address/length: bytes; result: count, may be short
  send_message,  ///< address: an io::message; result: count, may be short
  /// address: an io::message, whose lengths and flags are filled in; result: count, which of a datagram that did not fit
  /// is what did. Descriptors that come along are close-on-exec.
  receive_message,
  receive_messages_many,  ///< a message_multishot: datagrams arrive in buffers of the backend's pool
  wait_readable,          ///< result 0 when a read would not block
  wait_writable,          ///< result 0 when a write would not block

  // Of files and paths: an io::file_request each. They wait for nobody but the disk, and always end by themselves.
  read,            ///< address/length: where bytes go; result: count, 0 at the end of the file
  write,           ///< address/length: bytes; result: count, may be short
  read_vector,     ///< address/length: an array of buffers and their number; result as read
  write_vector,    ///< address/length: an array of const_buffer and their number; result as write
  open,            ///< address: a path; result: a descriptor, close-on-exec
  close,           ///< the target's descriptor, which is gone whatever the result
  sync,            ///< flags: 1 for the data only
  stat,            ///< address: a path, flags: AT_…, second: a struct statx
  resize,          ///< offset: the new size
  rename,          ///< address, second: paths
  remove,          ///< address: a path, flags: 0 or AT_REMOVEDIR
  make_directory,  ///< address: a path
  make_symlink,    ///< address: what it says, second: its own path
  watch,           ///< address: a path, flags: IN_…, the target: an inotify descriptor; result: the watch
  read_directory,  ///< address/length: where entries go, see getdents64(2); result: bytes, 0 at the end
  send_file,       ///< flags: a file, offset/length: what of it, the target: a non-blocking socket; result: count

  raw,  ///< an io::raw_request: an entry for the ring as it is; a backend without one says EOPNOTSUPP
};

/// Whether a request with this code is a file_request.
[[nodiscard]] constexpr bool concerns_file(opcode code) noexcept {
  return code >= opcode::read && code <= opcode::send_file;
}

/// Where a request is on its way.
enum class phase : std::uint8_t {
  idle,       ///< nobody but the owner knows it
  in_flight,  ///< a backend has it: it and what it points to must stay where they are
};

/// One I/O operation: what is asked, of whom, and whom to tell.
///
/// A submitted request is completed exactly once: the backend stores `result`, sets `where` to idle and
/// appends it to the ready list; the loop then calls `complete`. No backend calls `complete` itself.
///
/// Thread:   belongs to the loop whose backend it is submitted to.
/// Lifetime: from submit to completion neither it nor the memory that it names may move or die,
///           also when it has been cancelled: the kernel owns the buffer until then.
struct request : completion {
  opcode code{};
  phase where = phase::idle;
  bool cancel_requested = false;   ///< kept by the backend: a second cancel is not sent
  std::uint8_t backend_state = 0;  ///< of the backend that has it; means nothing to others
  std::uint32_t length = 0;
  descriptor* target = nullptr;
  void* address = nullptr;
  int result = 0;  ///< ≥ 0: as the system call of that name; < 0: -errno, -ECANCELED after a cancel
};

/// A request that goes on giving results until it ends or is cancelled.
///
/// For each result the backend calls `deliver` at once (in its wait, before anything is resumed) and
/// appends the request to the ready list unless `listed` says that it is there already; `complete` runs
/// once for any number of deliveries and clears `listed`. When the last one has come, `where` is idle:
/// end of stream, an error, a cancel, or for no reason at all, in which case submitting again goes on.
struct multishot : request {
  bool listed = false;

  /// `result` ≥ 0: a descriptor or a byte count (0: end of stream), < 0: -errno.
  /// `buffer`: index in the pool, or no_buffer. The owner of the multishot owns it from here on.
  void (*deliver)(multishot&, int result, std::uint32_t buffer) noexcept = nullptr;

  static constexpr std::uint32_t no_buffer = ~std::uint32_t{0};
};

/// A range of bytes as the kernel's vectored calls read it (same layout as struct iovec).
struct const_buffer {
  const void* data = nullptr;
  std::size_t size = 0;
};

/// The same for bytes that are to be filled in.
struct mutable_buffer {
  void* data = nullptr;
  std::size_t size = 0;
};

/// Same layout as struct msghdr: see sendmsg(2). Zero-initialized but for the buffers in our uses.
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
