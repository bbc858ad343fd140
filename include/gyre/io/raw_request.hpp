// gyre/io/raw_request.hpp: any io_uring operation, as an entry filled in by hand.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/request.hpp>
#include <gyre/io/uring/abi.hpp>

#include <cstdint>

namespace gyre::io {

/// A request that is one submission entry, for operations without a request type of their own. The backend sets the
/// entry's user_data. The kernel's answer is passed on unchanged: nothing is retried.
struct raw_request : request {
  uring::submission entry{};

  /// The flags of the completion that set `result`. A notification (uring::cqe_notification) only reports that buffers
  /// are free and changes neither.
  std::uint32_t completion_flags = 0;

  /// Called in the backend's wait for each result after which more follow (uring::cqe_more). May be null.
  void (*deliver)(raw_request&) noexcept = nullptr;
};

/// The flags that would link an entry to other entries, or leave it without a completion.
inline constexpr std::uint8_t refused_entry_flags =
    uring::sqe_io_link | uring::sqe_io_hardlink | uring::sqe_io_drain | uring::sqe_cqe_skip_success;

/// Placeholder for the descriptor of a raw request, whose entry names its own. Thread: each thread has its own.
[[nodiscard]] GYRE_API descriptor& unnamed_descriptor() noexcept;

}  // namespace gyre::io
