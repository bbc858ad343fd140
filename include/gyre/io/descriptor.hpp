// gyre/io/descriptor.hpp: an open file descriptor as the backends see it.
#pragma once

#include <cstdint>

namespace gyre::io {

struct request;

/// One open descriptor together with what a backend remembers about it.
///
/// Lifetime: must not move or die while `in_flight` is not 0 or while it is attached to a backend.
struct descriptor {
  int fd = -1;

  /// Requests submitted and not yet completed. The number of the descriptor may be given back to
  /// the kernel (close) only when this is 0, or a queued request would hit whatever file gets it next.
  std::uint32_t in_flight = 0;

  // For a backend that waits for readiness: who waits in each direction (at most one each).
  request* reader = nullptr;
  request* writer = nullptr;
  bool attached = false;

  // What is known without asking the kernel. A backend that does not learn of readiness (io_uring)
  // leaves `readable` to the last result: set when a read filled its buffer or the kernel said "more".
  bool readable = false;  ///< a read is worth trying now
  bool writable = true;   ///< a write is worth trying now
  bool hangup = false;    ///< the peer has finished sending, or an error waits: reads no longer block

  /// A read may stop at descriptors that were passed along, with more behind them, as of a Unix socket. Where it cannot
  /// (TCP), what a short read tells is had for less.
  bool may_carry_descriptors = true;
};

}  // namespace gyre::io
