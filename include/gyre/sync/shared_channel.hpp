// gyre/sync/shared_channel.hpp: a channel between loops and threads.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/sync/item_storage.hpp>
#include <gyre/sync/shared_line.hpp>
#include <gyre/sync/sync_error.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstddef>
#include <expected>
#include <optional>
#include <system_error>
#include <utility>

namespace gyre {

template <class T>
struct shared_send_slot : shared_waiter {
  std::optional<T> item;
};
template <class T>
struct shared_receive_slot : shared_waiter {
  std::optional<T> item;
};

/// The state that the copies of a shared_channel share. The lock guards everything but the count.
template <class T>
struct shared_channel_state {
  shared_lock lock;
  fifo_storage<T> items;
  std::size_t capacity;
  shared_line senders;
  shared_line receivers;
  bool closed = false;
  int references = 1;

  explicit shared_channel_state(std::size_t max) : capacity(max) {}

  /// Errors: std::bad_alloc; the item was not moved.
  bool accept(T& item) {
    if (shared_waiter* const first = receivers.first()) {
      static_cast<shared_receive_slot<T>&>(*first).item.emplace(std::move(item));
      receivers.wake_first();
      return true;
    }
    if (items.size() >= capacity) return false;
    items.push(std::move(item));
    return true;
  }
  bool take(std::optional<T>& out) noexcept {
    if (items.empty()) return false;
    out.emplace(items.pop());
    if (shared_waiter* const first = senders.first(); first != nullptr && items.size() < capacity) {
      items.push(std::move(*static_cast<shared_send_slot<T>&>(*first).item));  // allocates nothing: one has left
      senders.wake_first();
    }
    return true;
  }
  // Returns the item of a receive whose result was discarded. It becomes the next item again, even above the capacity.
  void take_back(T&& item) noexcept {
    try {
      const shared_lock_guard locked(lock);
      if (shared_waiter* const first = receivers.first()) {
        static_cast<shared_receive_slot<T>&>(*first).item.emplace(std::move(item));
        receivers.wake_first();
      } else {
        items.put_back(std::move(item));
      }
    } catch (...) {
      report_lost_item();
    }
  }
  void close() noexcept {
    closed = true;
    senders.refuse_all();
    receivers.refuse_all();  // they wait because it is empty
  }
};

/// The operation of shared_channel::send().
template <class T>
class [[nodiscard("co_await it"), gnu::warn_unused]] shared_send_op
    : public shared_operation<shared_send_op<T>, shared_send_slot<T>> {
 public:
  shared_send_op(shared_channel_state<T>& target, T&& value) : state_(&target) { this->item.emplace(std::move(value)); }
  bool attempt() {
    this->refused = state_->closed;
    return this->refused || state_->accept(*this->item);
  }
  shared_line& waits_in() noexcept { return state_->senders; }
  shared_lock& lock() noexcept { return state_->lock; }
  std::expected<void, std::error_code> take_result() {
    if (const std::error_code error = this->outcome(sync_errc::closed)) return std::unexpected(error);
    return {};
  }
  [[noreturn]] void fail(std::error_code reason) const {
    if (reason == sync_errc::closed) throw channel_closed();
    throw std::system_error(reason, "send");
  }

 private:
  shared_channel_state<T>* state_;
};

/// The operation of shared_channel::receive().
template <class T>
class [[nodiscard("co_await it"), gnu::warn_unused]] shared_receive_op
    : public shared_operation<shared_receive_op<T>, shared_receive_slot<T>> {
 public:
  explicit shared_receive_op(shared_channel_state<T>& source) noexcept : state_(&source) {}
  bool attempt() { return state_->take(this->item) || state_->closed; }
  shared_line& waits_in() noexcept { return state_->receivers; }
  shared_lock& lock() noexcept { return state_->lock; }
  std::expected<std::optional<T>, std::error_code> take_result() {
    if (const std::error_code error = this->outcome({})) return std::unexpected(error);
    return std::move(this->item);
  }
  static constexpr bool result_is_granted = true;
  void give_back() noexcept {
    if (this->item) state_->take_back(*std::move(this->item));
  }
  [[noreturn]] void fail(std::error_code reason) const { throw std::system_error(reason, "receive"); }

 private:
  shared_channel_state<T>* state_;
};

/// Items from any task or thread to any other, until it is closed. Each item goes to one receiver. Copies refer to the
/// same channel; give one to each user. Both sides are served in the order of arrival.
///
/// Thread: any, for every function. An await resumes on the loop on which it started.
template <class T>
class shared_channel {
 public:
  using value_type = T;

  /// Holds at most `capacity` items. It must be at least one. Errors: std::bad_alloc.
  explicit shared_channel(std::size_t capacity) : state_(new shared_channel_state<T>(capacity)) {
    if (capacity == 0) misuse("a shared_channel needs room for one item");
  }
  shared_channel(const shared_channel& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) __atomic_fetch_add(&state_->references, 1, __ATOMIC_RELAXED);
  }
  shared_channel(shared_channel&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  shared_channel& operator=(shared_channel other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~shared_channel() {
    if (state_ != nullptr && __atomic_fetch_sub(&state_->references, 1, __ATOMIC_ACQ_REL) == 1) delete state_;
  }

  /// Sends an item. Waits for room first when the channel is full.
  ///
  /// Cancel: the item was not sent. A send that came first wins over the cancel. Errors: channel_closed;
  /// std::bad_alloc, not sent.
  [[nodiscard("co_await it")]] shared_send_op<T> send(T item) { return {state(), std::move(item)}; }

  /// Takes the next item. Returns nothing when the channel is closed and empty.
  ///
  /// Cancel: no item was taken. An item that came first wins over the cancel.
  [[nodiscard("co_await it")]] shared_receive_op<T> receive() noexcept { return shared_receive_op<T>(state()); }

  /// For a thread without a loop: waits for room by blocking. Returns false when the channel is closed.
  /// Errors: std::logic_error on the thread of a loop, whose tasks could not run meanwhile; std::bad_alloc. The item
  /// was not sent then.
  bool blocking_send(T item) {
    shared_send_slot<T> slot;
    slot.item.emplace(std::move(item));
    sleeping_thread thread(slot, "shared_channel::blocking_send");
    if (!sent_or_queued(slot)) thread.sleep(state().lock);
    return !slot.refused;
  }
  /// For a thread without a loop: waits for an item by blocking. Errors: same as blocking_send(); no item was taken
  /// then.
  std::optional<T> blocking_receive() {
    shared_receive_slot<T> slot;
    sleeping_thread thread(slot, "shared_channel::blocking_receive");
    if (!received_or_queued(slot)) thread.sleep(state().lock);
    return std::move(slot.item);
  }

  /// Returns true when the item was sent. Returns false, and leaves `item` unchanged, when it would have to wait or the
  /// channel is closed.
  /// Errors: std::bad_alloc; `item` is unchanged.
  [[nodiscard]] bool try_send(T& item) {
    const shared_lock_guard locked(state().lock);
    return !state().closed && state().accept(item);
  }
  [[nodiscard]] bool try_send(T&& item) { return try_send(item); }
  /// Takes the next item, or returns nothing when there is none now.
  [[nodiscard]] std::optional<T> try_receive() {
    std::optional<T> item;
    const shared_lock_guard locked(state().lock);
    (void)state().take(item);
    return item;
  }

  /// Closes the channel: it accepts no more items. Its remaining items can still be received. Idempotent.
  void close() noexcept {
    const shared_lock_guard locked(state().lock);
    state().close();
  }

 private:
  [[nodiscard]] shared_channel_state<T>& state() const noexcept {
    if (state_ == nullptr) [[unlikely]]
      misuse(
          "a shared_channel that was moved from was used: use the object that it was moved to, or give each user a "
          "copy");
    return *state_;
  }
  // Returns true when the send is done or refused. Returns false when the thread must wait.
  bool sent_or_queued(shared_send_slot<T>& slot) {
    const shared_lock_guard locked(state().lock);
    slot.refused = state().closed;
    if (slot.refused || state().accept(*slot.item)) return true;
    state().senders.push_back(slot);
    return false;
  }
  bool received_or_queued(shared_receive_slot<T>& slot) noexcept {
    const shared_lock_guard locked(state().lock);
    if (state().take(slot.item) || state().closed) return true;
    state().receivers.push_back(slot);
    return false;
  }

  shared_channel_state<T>* state_;
};

}  // namespace gyre
