// gyre/io/raw_request.hpp: any operation of the ring, as an entry filled by hand.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/request.hpp>
#include <gyre/io/uring/abi.hpp>

#include <cstdint>

namespace gyre::io {

/// A request that is one submission entry, for what the library has no request of its own for. The backend sets the
/// entry's user_data. What the kernel answers is handed on as it is: nothing is tried again.
struct raw_request : request {
  uring::submission entry{};

  /// Of the completion that `result` came with. A notification (uring::cqe_notification) only says that buffers are free: it
  /// leaves both alone.
  std::uint32_t completion_flags = 0;

  /// Called for each result that more will follow (uring::cqe_more), in the backend's wait. May be null.
  void (*deliver)(raw_request&) noexcept = nullptr;
};

/// The flags of an entry that would tie it to entries of others, or leave it without a completion.
inline constexpr std::uint8_t refused_entry_flags =
    uring::sqe_io_link | uring::sqe_io_hardlink | uring::sqe_io_drain | uring::sqe_cqe_skip_success;

/// Stands for the descriptor of a raw request, which names its own. Thread: each has its own.
[[nodiscard]] GYRE_API descriptor& unnamed_descriptor() noexcept;

}  // namespace gyre::io
