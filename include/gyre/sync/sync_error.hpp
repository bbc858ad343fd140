// gyre/sync/sync_error.hpp: the errors of waits for another task.
#pragma once

#include <gyre/attributes.hpp>

#include <system_error>

namespace gyre {

enum class sync_errc {
  shut_down = 1,   ///< the queue accepts no more items, or has no more
  closed,          ///< the channel was closed, so no task will receive the item
  broken,          ///< the barrier was aborted, or reset while the task waited
  sender_dropped,  ///< the sender was destroyed without sending a value
};

[[nodiscard]] GYRE_API std::error_code make_error_code(sync_errc reason) noexcept;

/// A wait that ended without a result because of another task's action. Its code is a sync_errc.
class GYRE_API sync_error : public std::system_error {
 public:
  explicit sync_error(sync_errc reason);
  ~sync_error() override;
};

/// Thrown by a queue that was shut down. asyncio: QueueShutDown.
class GYRE_API queue_shut_down : public sync_error {
 public:
  queue_shut_down();
  ~queue_shut_down() override;
};

/// Thrown by a channel that was closed.
class GYRE_API channel_closed : public sync_error {
 public:
  channel_closed();
  ~channel_closed() override;
};

/// Thrown by a barrier that was aborted, or reset while the task waited. asyncio: BrokenBarrierError.
class GYRE_API broken_barrier : public sync_error {
 public:
  broken_barrier();
  ~broken_barrier() override;
};

/// Thrown when a promise, or the sending half of a oneshot, was destroyed without sending a value.
class GYRE_API sender_dropped : public sync_error {
 public:
  sender_dropped();
  ~sender_dropped() override;
};

}  // namespace gyre

template <>
struct std::is_error_code_enum<gyre::sync_errc> : std::true_type {};
