// gyre/io/descriptor.hpp: an open file descriptor as the backends see it. For authors of operations.
#pragma once

#include <cstdint>

namespace gyre::io {

struct request;

/// An open descriptor and the state that a backend keeps for it.
///
/// Lifetime: must not move or be destroyed while `in_flight` is not 0 or while it is attached to a backend.
struct descriptor {
  int fd = -1;

  /// The number of requests submitted and not yet completed. The descriptor may be closed only when this is 0.
  /// Otherwise a queued request would affect the next file that gets the same number.
  std::uint32_t in_flight = 0;

  // For a backend that waits for readiness: the waiting request of each direction (at most one each).
  request* reader = nullptr;
  request* writer = nullptr;
  // The state that is known without asking the kernel. A backend that is not notified of readiness (io_uring) derives
  // `readable` from the last result: it is set when a read filled its buffer or the kernel reported more data.
  bool readable = false;  ///< a read is worth trying now
  bool writable = true;   ///< a write is worth trying now
  /// The peer has finished sending, an error waits, or urgent data has come: try a read.
  bool hangup : 1 = false;
  bool attached : 1 = false;

  /// True when a read may stop at passed descriptors although more data follows, as on a Unix socket. Where that is
  /// impossible (TCP), the cheaper recv(2) suffices to interpret a short read.
  bool may_carry_descriptors : 1 = true;
};

}  // namespace gyre::io
