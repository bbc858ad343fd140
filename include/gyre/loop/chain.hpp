// gyre/loop/chain.hpp: `a && b`: each operation starts only when the previous one has fully succeeded.
#pragma once

#include <gyre/loop/as_expected.hpp>
#include <gyre/loop/granted.hpp>
#include <gyre/loop/operation.hpp>

#include <exception>
#include <system_error>
#include <utility>

namespace gyre {

/// An operation that can be part of a chain. It reports whether it completed in full.
template <class Op>
concept chainable_operation = fallible_operation<Op> && requires(Op& op) {
  op.try_now();
  op.start();
  { op.fully_succeeded() } -> std::convertible_to<bool>;
};

/// An operation that may come before another one in a chain. Its result is discarded, so it must own nothing.
template <class Op>
concept chainable_before_another = chainable_operation<Op> && !result_owns_grant<Op>;

template <chainable_before_another First, chainable_operation Second>
class [[nodiscard("co_await it")]] chain_op : public operation<chain_op<First, Second>> {
 public:
  chain_op(First&& first, Second&& second) noexcept : first_(std::move(first)), second_(std::move(second)) {}

  static constexpr bool result_is_granted = result_owns_grant<Second>;

  bool try_now() noexcept { return false; }
  void start() noexcept {
    starting_ = true;
    begin(first_, [](operation_base& op) noexcept { static_cast<link<First>&>(op).owner->first_ended(); });
    starting_ = false;
  }
  // The running operation may succeed despite the cancel. Then the next one does not start.
  void on_cancel() noexcept {
    cancelled_ = true;
    if (current_ != nullptr) current_->cancel(*current_);
  }

  /// Returns the result of the last operation, or the error of the first one that failed. When an operation transferred
  /// less than requested, the code is operation_canceled, and the next operation was not started.
  auto take_result() -> decltype(std::declval<Second&>().take_result()) {
    if (!fully_succeeded()) give_back_first();
    if (failure_) std::rethrow_exception(failure_);
    if (second_began_) return second_.take_result();
    auto first = first_.take_result();
    if (!first) return std::unexpected(first.error());
    return std::unexpected(this->cancel_error());
  }
  void fail(std::error_code reason) {
    if (second_began_) second_.fail(reason);
    first_.fail(reason);
  }
  [[nodiscard]] bool fully_succeeded() noexcept { return second_began_ && !failure_ && second_.fully_succeeded(); }
  /// Gives back everything that the chain was granted. Only for a chain that has fully succeeded and whose result is
  /// discarded.
  void give_back() noexcept
    requires can_give_back<First> || can_give_back<Second>
  {
    if constexpr (can_give_back<Second>) second_.give_back();
    give_back_first();
  }

 private:
  template <class Op>
  struct link : Op {
    explicit link(Op&& op) noexcept : Op(std::move(op)) {}
    chain_op* owner = nullptr;
  };

  template <class Op>
  void begin(link<Op>& op, void (*ended)(operation_base&) noexcept) noexcept {
    // The parts resume no coroutine. They share the waiter only to know whether its scope is cancelled.
    op.waiter = this->waiter;
    op.proceed = ended;
    op.owner = this;
    current_ = nullptr;
    try {
      if (!op.try_now()) {
        current_ = &op;
        op.accept_cancel();
        op.start();
        return;
      }
    } catch (...) {
      failure_ = std::current_exception();  // thrown where the chain is awaited
      return end();
    }
    ended(op);
  }

  void first_ended() noexcept {
    current_ = nullptr;
    first_granted_ = first_.fully_succeeded();
    if (!first_granted_ || cancelled_ || this->scope_cancelled()) return end();
    second_began_ = true;
    begin(second_, [](operation_base& op) noexcept { static_cast<link<Second>&>(op).owner->end(); });
  }

  // Called only when the chain fails: the caller cannot know what the first operation was granted.
  void give_back_first() noexcept {
    if constexpr (can_give_back<First>)
      if (std::exchange(first_granted_, false)) first_.give_back();
  }

  void end() noexcept {
    current_ = nullptr;
    if (starting_)
      this->finish_soon();  // no coroutine may be resumed inside start
    else
      this->proceed(*this);
  }

  link<First> first_;
  link<Second> second_;
  operation_base* current_ = nullptr;
  bool starting_ = false;
  bool second_began_ = false;
  bool first_granted_ = false;
  bool cancelled_ = false;
  std::exception_ptr failure_;  // from a part that could not start
};

/// `co_await (a && b)` starts b when a has fully succeeded, without resuming the coroutine in between. This is the same
/// on every backend. Returns the result of the last operation, or throws the error of the first one that failed.
///
/// A transfer that is shorter than requested (read_some, write_some) breaks the chain: the await throws
/// operation_canceled, and the remaining operations are not started.
/// A failed chain holds nothing: locks and permits that earlier operations were granted are given back. Data that was
/// sent or written stays sent or written, and a countdown is not reverted. An operation whose result owns something (a
/// guard, an item) can only be the last one. Cancel: same as the operation that is running; the remaining ones are not
/// started.
template <chainable_before_another First, chainable_operation Second>
  requires std::is_rvalue_reference_v<First&&> && std::is_rvalue_reference_v<Second&&>
[[nodiscard]] chain_op<First, Second> operator&&(First&& first, Second&& second) noexcept {
  return chain_op<First, Second>(std::move(first), std::move(second));
}

}  // namespace gyre
