// gyre/sync/oneshot.hpp: passes one value from one task to another.
#pragma once

#include <gyre/coro/frame_pool.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/sync/sync_error.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace gyre {

/// The state that both halves of a oneshot share. Freed when both are destroyed.
template <class T>
struct oneshot_state : pooled {
  std::optional<T> value;
  wait_queue_of<"a oneshot"> receiver;
  bool sender_gone = false;
  bool receiver_gone = false;
  owner_loop_of<"a oneshot"> owner;
};

template <class T>
class oneshot_sender;

/// The operation of receive(): waits for the value.
template <class T>
class [[nodiscard("co_await it"), gnu::warn_unused]] oneshot_receive_op
    : public queued_operation<oneshot_receive_op<T>, T> {
  static constexpr bool moves_safely = std::is_nothrow_move_constructible_v<T>;

 public:
  static constexpr bool result_is_granted = true;
  static constexpr bool result_may_be_lost = !moves_safely;
  explicit oneshot_receive_op(oneshot_state<T>& awaited) noexcept : state_(&awaited) {}
  bool try_now() noexcept(moves_safely) {
    state_->owner.check("receive");
    if (!state_->receiver.empty())
      misuse("two tasks wait for the value of one oneshot: let one task wait, and hand on what it gets");
    if (state_->value) {
      value_.emplace(*std::move(state_->value));
      state_->value.reset();
      return true;
    }
    return this->refused = state_->sender_gone;
  }
  wait_queue& waits_in() noexcept { return state_->receiver; }
  T take_value() noexcept(moves_safely) { return *std::move(value_); }
  void give_back() noexcept
    requires moves_safely
  {
    state_->value.emplace(*std::move(value_));
    value_.reset();
  }
  static std::error_code refusal() noexcept { return sync_errc::sender_dropped; }
  [[noreturn]] static void refuse() { throw sender_dropped(); }

 private:
  friend class oneshot_sender<T>;
  oneshot_state<T>* state_;
  std::optional<T> value_;  // taken at the moment of the send, or when the await begins
};

/// The sending half.
template <class T>
class oneshot_sender {
 public:
  explicit oneshot_sender(oneshot_state<T>& shared) noexcept : state_(&shared) {}

  /// Sends the value. To be called once. Returns false, and leaves the value unchanged, when the receiver is gone.
  bool send(T&& value) {
    check("send");
    if (is_closed()) [[unlikely]]
      return send_to_nobody();
    if (wait_node* const waiting = state_->receiver.first(); waiting != nullptr) {
      static_cast<oneshot_receive_op<T>&>(*waiting).value_.emplace(std::move(value));
      state_->receiver.grant_one();
    } else {
      state_->value.emplace(std::move(value));
    }
    state_.release()->sender_gone = true;
    return true;
  }
  bool send(const T& value)
    requires std::copy_constructible<T>
  {
    return send(T(value));
  }
  /// True when the receiver is gone, so no task will see the value.
  [[nodiscard]] bool is_closed() const noexcept {
    check("is_closed");
    return state_ == nullptr || state_->receiver_gone;
  }

 private:
  void check(const char* operation) const noexcept {
    if (state_ != nullptr) state_->owner.check(operation);
  }
  [[gnu::noinline, gnu::cold]] bool send_to_nobody() {
    if (state_ == nullptr)
      misuse("send on a oneshot_sender that has sent its value or was moved from: a oneshot takes one value only");
    delete state_.release();
    return false;
  }
  static void leave(oneshot_state<T>* state) noexcept {
    state->owner.check("destructor of the sender");
    state->sender_gone = true;
    if (state->receiver_gone)
      delete state;
    else
      state->receiver.refuse_all();
  }
  owned<oneshot_state<T>*, &leave> state_;
};

/// The receiving half.
template <class T>
class oneshot_receiver {
 public:
  explicit oneshot_receiver(oneshot_state<T>& shared) noexcept : state_(&shared) {}

  /// Waits for the value. To be called once.
  ///
  /// Cancel: stops waiting. A later value stays for the next receive. A race that drops the result gives it back,
  /// unless its move may throw: then it is lost.
  /// Errors: sender_dropped when the sender is gone without having sent a value.
  [[nodiscard("co_await it")]] oneshot_receive_op<T> receive() noexcept { return oneshot_receive_op<T>(state()); }
  /// Takes the value, if it has arrived.
  [[nodiscard]] std::optional<T> try_receive() noexcept {
    state().owner.check("try_receive");
    return std::exchange(state_->value, std::nullopt);
  }

 private:
  [[nodiscard]] oneshot_state<T>& state() const noexcept {
    if (state_ == nullptr) [[unlikely]]
      misuse("a oneshot_receiver that was moved from was used: use the object that it was moved to");
    return *state_;
  }
  static void leave(oneshot_state<T>* state) noexcept {
    state->owner.check("destructor of the receiver");
    state->receiver_gone = true;
    if (state->sender_gone) delete state;
  }
  owned<oneshot_state<T>*, &leave> state_;
};

/// One value from one task to another: create `gyre::oneshot<int> reply;` and pass on `reply.sender` and
/// `reply.receiver`.
///
/// Thread: belongs to one loop. Errors: std::bad_alloc.
template <class T>
struct oneshot {
  oneshot() : oneshot(*new oneshot_state<T>) {}

  oneshot_sender<T> sender;
  oneshot_receiver<T> receiver;

 private:
  explicit oneshot(oneshot_state<T>& shared) noexcept : sender(shared), receiver(shared) {}
};

}  // namespace gyre
