// gyre/net/connection_shares.hpp: one loop accepts, and several loops serve. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/sync/shared_line.hpp>

#include <cstddef>
#include <span>

namespace gyre {

struct listener_state;
class connection_shares;

/// The connections of one listener that one loop has been given and has not closed yet.
struct loop_share;
/// A connection has ended. Thread: that of the loop which serves it.
GYRE_API void release(loop_share& share) noexcept;

/// Waits until a loop may be given a connection.
class GYRE_API [[nodiscard("co_await it")]] share_room_op : public shared_operation<share_room_op, shared_waiter> {
 public:
  explicit share_room_op(connection_shares& shares) noexcept : shares_(&shares) {}
  bool attempt() noexcept;
  shared_line& waits_in() noexcept;
  shared_lock& lock() noexcept;
  void await_resume() const {
    if (outcome({})) throw_cancelled();
  }

 private:
  connection_shares* shares_;
};

/// Spreads the connections of one listener over the loops of a runtime. Each goes to the loop that has the fewest.
///
/// A connection is counted when its loop is chosen, so a burst is spread evenly, and no longer counted when it ends.
/// Ties rotate. Owned together by the accepting task, the serving tasks and the messages on their way.
/// Thread: any, unless a function says otherwise.
class GYRE_API connection_shares {
 public:
  /// One share for each of `loops`, which gets at most `limit` connections at a time. The caller owns one reference.
  /// Errors: std::bad_alloc.
  static connection_shares& create(std::span<event_loop* const> loops, std::size_t limit);
  connection_shares& operator=(connection_shares&&) = delete;
  void add_reference() noexcept;
  void drop_reference() noexcept;

  [[nodiscard]] loop_share& operator[](std::size_t number) const noexcept;
  /// The number of connections of a loop.
  [[nodiscard]] std::size_t count(std::size_t number) const noexcept;

  // On the accepting loop.

  /// Waits until a loop has fewer connections than the limit. Cancel: stops waiting. Errors: none.
  [[nodiscard]] share_room_op room() noexcept { return share_room_op(*this); }
  /// Sends a connection to the loop with the fewest. Closes it when there is no memory.
  void give(owned_fd connection) noexcept;
  /// No connection will follow. Idempotent.
  void end() noexcept;

  // On the loop that serves share `number`.

  /// Delivers connections to `listener`, including those that have arrived.
  void attach(std::size_t number, listener_state& listener) noexcept;
  /// Closes those that have arrived, and all later ones.
  void detach(std::size_t number) noexcept;

 private:
  friend class share_room_op;
  friend struct loop_share;
  friend void release(loop_share& share) noexcept;
  struct state;
  explicit connection_shares(state* made) noexcept : state_(made) {}
  ~connection_shares();
  [[nodiscard]] loop_share* least_loaded() const noexcept;

  state* state_;
};

/// Owns one reference.
using shares_reference = owned<connection_shares*, &connection_shares::drop_reference>;

}  // namespace gyre
