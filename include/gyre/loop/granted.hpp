// gyre/loop/granted.hpp: gives back the grant of an operation whose result is dropped. For authors of operations.
#pragma once

#include <gyre/coro/context.hpp>

#include <coroutine>
#include <utility>

namespace gyre {

/// An operation whose success hands over something that must not get lost: a lock, a permit, an item. `give_back()`
/// returns that to its origin. It is called on an operation that has fully succeeded, instead of taking its result.
template <class Op>
concept can_give_back = requires(Op& op) {
  { op.give_back() } noexcept;
  { op.fully_succeeded() } noexcept;
};

/// An operation whose result owns the grant (a guard, an item) declares `static constexpr bool result_is_granted =
/// true`. If it has no give_back(), it also declares `result_may_be_lost = true`, and its contract says so.
template <class Op>
concept result_owns_grant = requires { requires Op::result_is_granted; };

/// The result of an operation before it is taken. If this is destroyed first, it gives back the grant.
///
/// Lifetime: the operation must outlive it.
template <can_give_back Op>
class granted {
 public:
  explicit granted(Op& op) noexcept : op_(&op) {}
  granted(granted&& other) noexcept : op_(std::exchange(other.op_, nullptr)) {}
  granted& operator=(granted&&) = delete;
  ~granted() {
    if (op_ != nullptr && op_->fully_succeeded()) op_->give_back();
  }
  /// Returns the result. To be called once.
  decltype(auto) take() { return std::exchange(op_, nullptr)->await_resume(); }

 private:
  Op* op_;
};

/// Awaits an operation and leaves its result untaken, in a `granted`. An error is thrown at once.
template <can_give_back Op>
struct await_untaken {
  using gyre_awaitable_tag = void;
  Op& op;

  bool await_ready() { return op.await_ready(); }
  template <class Promise>
  auto await_suspend(std::coroutine_handle<Promise> caller) {
    return op.await_suspend(caller);
  }
  granted<Op> await_resume() {
    if (!op.fully_succeeded()) (void)op.await_resume();  // throws, unless the error is its result
    return granted<Op>(op);
  }
};

}  // namespace gyre
