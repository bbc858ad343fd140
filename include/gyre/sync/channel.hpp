// gyre/sync/channel.hpp: a stream of items between tasks, which can be closed.
#pragma once

#include <gyre/sync/item_passage.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace gyre {

/// The names and errors of channels. The end of a channel is a value.
struct channel_words {
  static constexpr const char* put = "send";
  static constexpr const char* get = "receive";
  static constexpr sync_errc refusal = sync_errc::closed;
  using exception = channel_closed;
  using owner = owner_loop_of<"a channel">;
  using waiters = wait_queue_of<"a channel">;
  template <class T>
  using result = std::optional<T>;
};

/// The operation of send(): waits until the item is taken or there is room for it.
template <class T>
using channel_send_op = item_put_op<fifo_storage<T>, channel_words>;
/// The operation of receive(): waits for an item, or the end.
template <class T>
using channel_receive_op = item_get_op<fifo_storage<T>, channel_words>;

/// Items from any number of senders to any number of receivers, until it is closed. Each item goes to one receiver:
///
///   while (auto item = co_await channel.receive()) use(*item);
///
/// With capacity 0 a send waits until its item has been taken (rendezvous). Both sides are served in the order of
/// arrival.
/// Thread: belongs to one loop (see shared_channel). Lifetime: must outlive the tasks that wait for it.
template <class T>
class channel : public item_passage<fifo_storage<T>, channel_words> {
 public:
  /// Holds at most `capacity` items that were not taken yet; 0 means none.
  explicit channel(std::size_t capacity) noexcept : item_passage<fifo_storage<T>, channel_words>(capacity) {}

  /// Sends an item, and waits for room, or with capacity 0 for a receiver.
  ///
  /// Cancel: the item was not sent, and is destroyed with the operation. A send that came first wins over the cancel.
  /// Errors: channel_closed, even when the channel is closed while the send waits.
  [[nodiscard("co_await it")]] channel_send_op<T> send(T item) noexcept { return {*this, std::move(item)}; }

  /// Takes the next item. Returns nothing when the channel is closed and empty.
  ///
  /// Cancel: no item was taken. An item that came first wins over the cancel.
  [[nodiscard("co_await it")]] channel_receive_op<T> receive() noexcept { return channel_receive_op<T>(*this); }

  /// Returns true when the item was sent. Returns false, and leaves `item` unchanged, when it would have to wait or the
  /// channel is closed.
  [[nodiscard]] bool try_send(T& item) { return this->try_put_now(item, "try_send"); }
  [[nodiscard]] bool try_send(T&& item) { return try_send(item); }

  /// Takes the next item, or returns nothing when there is none now.
  [[nodiscard]] std::optional<T> try_receive() { return this->try_get_now("try_receive"); }

  /// Closes the channel: it accepts no more items. Its remaining items can still be received. Waiting senders fail.
  /// Idempotent.
  void close() noexcept { this->close_now("close", false); }

  [[nodiscard]] bool is_closed() const noexcept {
    this->owner_.check("is_closed");
    return this->closed_;
  }
};

}  // namespace gyre
