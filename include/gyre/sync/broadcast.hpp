// gyre/sync/broadcast.hpp: delivers every item to every subscriber.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/sync/source_link.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace gyre {

template <class T>
class broadcast;
template <class T>
class broadcast_subscription;

/// An item, and the number of items before it that this subscriber missed because it was too slow.
template <class T>
struct broadcast_item {
  T value;
  std::uint64_t missed = 0;
};

/// The operation of receive(): waits for the next item.
template <class T>
class [[nodiscard("co_await it"), gnu::warn_unused]] broadcast_receive_op
    : public queued_operation<broadcast_receive_op<T>, std::optional<broadcast_item<T>>> {
 public:
  explicit broadcast_receive_op(broadcast_subscription<T>& to) noexcept : subscription_(&to) {}
  static constexpr bool takes_when_resumed = true;
  static constexpr bool result_is_granted = true;
  bool try_now() noexcept {
    subscription_->source().check_loop("receive", "a subscription");
    if (!is_free()) return false;
    try {
      item_ = subscription_->take(number_);
    } catch (...) {
      failure_ = std::current_exception();  // from the copy; thrown where the item is awaited
    }
    return true;
  }
  [[nodiscard]] bool is_free() const noexcept { return subscription_->has_item() || subscription_->source().closed_; }
  wait_queue& waits_in() noexcept { return subscription_->source().receivers_; }
  std::optional<broadcast_item<T>> take_value() {
    if (failure_) std::rethrow_exception(failure_);
    return std::move(item_);
  }
  [[nodiscard]] bool fully_succeeded() const noexcept {
    return !failure_ && queued_operation<broadcast_receive_op, std::optional<broadcast_item<T>>>::fully_succeeded();
  }
  void give_back() noexcept {
    if (item_) subscription_->take_back(*std::move(item_), number_);
  }

 private:
  broadcast_subscription<T>* subscription_;
  std::optional<broadcast_item<T>> item_;
  std::uint64_t number_ = 0;  // of the item
  std::exception_ptr failure_;
};

/// Receives the items that are sent after subscribing. Tasks that wait with one subscription share its items: each item
/// goes to one of them.
///
/// Lifetime: may outlive its broadcast, but only to be destroyed or assigned to; any other use stops the program.
/// Thread: belongs to one loop.
template <class T>
class broadcast_subscription {
 public:
  /// Waits for the next item. Returns nothing when the broadcast is closed and everything was received.
  ///
  /// Cancel: no item was taken.
  [[nodiscard("co_await it")]] broadcast_receive_op<T> receive() noexcept { return broadcast_receive_op<T>(*this); }

  /// Takes the next item, if there is one.
  [[nodiscard]] std::optional<broadcast_item<T>> try_receive() {
    source().check_loop("try_receive", "a subscription");
    std::uint64_t number = 0;
    return take(number);
  }

 private:
  friend class broadcast<T>;
  friend class broadcast_receive_op<T>;
  explicit broadcast_subscription(broadcast<T>& source) noexcept
      : source_(&source), link_(source.subscriptions_), next_(source.sent_) {}
  [[nodiscard]] broadcast<T>& source() const noexcept {
    if (link_.is_gone()) [[unlikely]]
      misuse(
          "a subscription was used after its broadcast was destroyed: let the broadcast live longer, and close it when "
          "it has no more items");
    return *source_;
  }
  [[nodiscard]] bool has_item() const noexcept { return next_ < source().sent_ || !returned_.empty(); }

  [[nodiscard]] std::optional<broadcast_item<T>> take(std::uint64_t& number) {
    if (!returned_.empty()) {
      number = returned_.front().number;
      broadcast_item<T> item = std::move(returned_.front().item);
      returned_.erase(returned_.begin());
      return item;
    }
    if (!has_item()) return std::nullopt;
    const std::uint64_t oldest = source().oldest();
    const std::uint64_t missed = next_ < oldest ? oldest - next_ : 0;
    broadcast_item<T> item{source().at(next_ + missed), missed};  // first: if the copy throws, nothing was taken
    number = next_ + missed;
    next_ = number + 1;
    return item;
  }

  // Returns an item whose receive was discarded. It is the next one again.
  void take_back(broadcast_item<T>&& item, std::uint64_t number) noexcept {
    if (link_.is_gone()) return;  // no task can receive it any more
    if (next_ == number + 1) {
      next_ = number - item.missed;
    } else {  // another task has received a later one with this subscription
      try {
        auto later = returned_.begin();
        while (later != returned_.end() && later->number < number) ++later;
        returned_.insert(later, {std::move(item), number});
      } catch (...) {
        report_lost_item();
      }
    }
    source().receivers_.grant_all();
  }

  struct returned_item {
    broadcast_item<T> item;
    std::uint64_t number;
  };

  broadcast<T>* source_;
  source_link link_;
  std::uint64_t next_;
  std::vector<returned_item> returned_;
};

/// Delivers a copy of each item to each subscriber. Sending never waits: a subscriber that falls more than `capacity`
/// items behind loses the oldest ones and receives their number.
///
/// Thread: belongs to one loop. Lifetime: must outlive every use of its subscriptions.
template <class T>
class broadcast {
 public:
  /// Keeps the last `capacity` items, at least one.
  explicit broadcast(std::size_t capacity) : capacity_(capacity) {
    if (capacity == 0) misuse("a broadcast needs room for one item");
    items_.reserve(capacity);
  }
  broadcast& operator=(broadcast&&) = delete;

  [[nodiscard]] broadcast_subscription<T> subscribe() noexcept { return broadcast_subscription<T>(*this); }

  /// Sends an item to all subscribers. Stops the program when the broadcast is closed.
  void send(T item) {
    check_loop("send", "a broadcast");
    if (closed_) misuse("send() to a broadcast that is closed: ask is_closed() first");
    if (items_.size() < capacity_)
      items_.push_back(std::move(item));
    else
      items_[sent_ % capacity_] = std::move(item);
    ++sent_;
    receivers_.grant_all();
  }
  /// Closes the broadcast: no more items will come. Remaining items can still be received. Idempotent.
  void close() noexcept {
    check_loop("close", "a broadcast");
    closed_ = true;
    receivers_.grant_all();
  }
  [[nodiscard]] bool is_closed() const noexcept {
    check_loop("is_closed", "a broadcast");
    return closed_;
  }

 private:
  friend class broadcast_subscription<T>;
  friend class broadcast_receive_op<T>;
  void check_loop(const char* operation, const char* object) const noexcept {
    subscriptions_.owner.check(operation, object);
  }
  [[nodiscard]] std::uint64_t oldest() const noexcept { return sent_ - items_.size(); }
  [[nodiscard]] const T& at(std::uint64_t number) const noexcept { return items_[number % capacity_]; }

  std::vector<T> items_;
  std::size_t capacity_;
  std::uint64_t sent_ = 0;
  bool closed_ = false;
  wait_queue_of<"a broadcast"> receivers_;
  source_links subscriptions_;
};

}  // namespace gyre
