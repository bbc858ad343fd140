// gyre/sync/channel.hpp: a stream of items between tasks, which can be closed.
#pragma once

#include <gyre/sync/item_storage.hpp>
#include <gyre/sync/sync_error.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace gyre {

template <class T>
class channel;

/// The operation of send(): waits until the item is taken or there is room for it.
template <class T>
class [[nodiscard("co_await it"), gnu::warn_unused]] channel_send_op : public queued_operation<channel_send_op<T>> {
 public:
  channel_send_op(channel<T>& target, T&& item) noexcept : channel_(&target), item_(std::move(item)) {}
  bool try_now() {
    channel_->owner_.check("send");
    this->refused = channel_->closed_;
    return this->refused || channel_->accept(item_);
  }
  wait_queue& waits_in() noexcept { return channel_->senders_; }
  static std::error_code refusal() noexcept { return sync_errc::closed; }
  [[noreturn]] static void refuse() { throw channel_closed(); }

 private:
  friend class channel<T>;
  channel<T>* channel_;
  T item_;
};

/// The operation of receive(): waits for an item, or the end.
template <class T>
class [[nodiscard("co_await it"), gnu::warn_unused]] channel_receive_op
    : public queued_operation<channel_receive_op<T>, std::optional<T>> {
 public:
  explicit channel_receive_op(channel<T>& source) noexcept : channel_(&source) {}
  bool try_now() {
    channel_->owner_.check("receive");
    item_ = channel_->try_receive();
    return item_ || channel_->closed_;
  }
  wait_queue& waits_in() noexcept { return channel_->receivers_; }
  std::optional<T> take_value() noexcept { return std::move(item_); }
  static constexpr bool result_is_granted = true;
  void give_back() noexcept {
    if (item_) channel_->take_back(*std::move(item_));
  }

 private:
  friend class channel<T>;
  channel<T>* channel_;
  std::optional<T> item_;
};

/// Items from any number of senders to any number of receivers, until it is closed. Each item goes to one receiver:
///
///   while (auto item = co_await channel.receive()) use(*item);
///
/// With capacity 0 a send waits until its item has been taken (rendezvous). Both sides are served in the order of
/// arrival.
/// Thread: belongs to one loop (see shared_channel). Lifetime: must outlive the tasks that wait for it.
template <class T>
class channel {
 public:
  using value_type = T;

  /// Holds at most `capacity` items that were not taken yet; 0 means none.
  explicit channel(std::size_t capacity) noexcept : capacity_(capacity) {}
  channel& operator=(channel&&) = delete;

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
  [[nodiscard]] bool try_send(T& item) {
    owner_.check("try_send");
    return !closed_ && accept(item);
  }
  [[nodiscard]] bool try_send(T&& item) { return try_send(item); }

  /// Takes the next item, or returns nothing when there is none now.
  [[nodiscard]] std::optional<T> try_receive() {
    owner_.check("try_receive");
    std::optional<T> item;
    if (!items_.empty()) item.emplace(items_.pop());
    wait_node* const first = senders_.first();
    if (first == nullptr || (item && items_.size() >= capacity_)) return item;
    auto& sender = static_cast<channel_send_op<T>&>(*first);
    if (item)
      items_.push(std::move(sender.item_));
    else
      item.emplace(std::move(sender.item_));
    senders_.grant_one();
    return item;
  }

  /// Closes the channel: it accepts no more items. Its remaining items can still be received. Waiting senders fail.
  /// Idempotent.
  void close() noexcept {
    owner_.check("close");
    closed_ = true;
    senders_.refuse_all();
    receivers_.grant_all();  // without an item: they wait because it is empty
  }

  [[nodiscard]] bool is_closed() const noexcept {
    owner_.check("is_closed");
    return closed_;
  }
  /// The number of items that were not taken yet, without those of waiting senders.
  [[nodiscard]] std::size_t size() const noexcept {
    owner_.check("size");
    return items_.size();
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  friend class channel_send_op<T>;
  friend class channel_receive_op<T>;

  // Returns the item of a receive whose result was discarded. It becomes the next item again, even above the capacity.
  void take_back(T&& item) noexcept {
    if (wait_node* const first = receivers_.first()) {
      static_cast<channel_receive_op<T>&>(*first).item_.emplace(std::move(item));
      receivers_.grant_one();
      return;
    }
    try {
      items_.put_back(std::move(item));
    } catch (...) {
      report_lost_item();
    }
  }
  bool accept(T& item) {
    if (wait_node* const first = receivers_.first()) {
      static_cast<channel_receive_op<T>&>(*first).item_.emplace(std::move(item));
      receivers_.grant_one();
      return true;
    }
    if (items_.size() >= capacity_) return false;
    items_.push(std::move(item));
    return true;
  }

  fifo_storage<T> items_;
  std::size_t capacity_;
  bool closed_ = false;
  owner_loop_of<"a channel"> owner_;
  wait_queue_of<"a channel"> senders_;
  wait_queue_of<"a channel"> receivers_;
};

}  // namespace gyre
