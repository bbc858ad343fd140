// gyre/loop/timeout_op.hpp: a time limit for one operation, without a coroutine, an allocation or an exception.
#pragma once

#include <gyre/io/io_error.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/operation.hpp>

#include <chrono>
#include <system_error>
#include <utility>

namespace gyre {

template <fallible_operation Op>
class [[nodiscard("co_await it")]] timeout_op : public Op {
 public:
  timeout_op(std::chrono::nanoseconds limit, Op&& op) noexcept : Op(std::move(op)), limit_(limit) {}

  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> caller) noexcept(
      noexcept(std::declval<Op&>().await_suspend(caller))) {
    run_armed([&]() noexcept(noexcept(Op::await_suspend(caller))) { Op::await_suspend(caller); });
  }
  void start() noexcept(noexcept(std::declval<Op&>().start())) {
    run_armed([&]() noexcept(noexcept(Op::start())) { Op::start(); });
  }

  auto take_result() -> decltype(std::declval<Op&>().take_result()) {
    auto outcome = Op::take_result();
    if (!outcome && clock_.expired && outcome.error() == std::errc::operation_canceled)
      return std::unexpected(time_limit_passed());
    return outcome;
  }
  void fail(std::error_code reason) {
    if (!clock_.expired || reason != time_limit_passed()) return Op::fail(reason);
    try {
      Op::fail(reason);  // throws with the names of the operation and its object
    } catch (...) {      // rethrown with the limit
      throw_timed_out(limit_);
    }
  }
  decltype(auto) await_resume() { return value_or_throw(*this); }

 private:
  template <class Begin>
  void run_armed(Begin begin) noexcept(noexcept(begin())) {
    arm();
    if constexpr (noexcept(begin())) {
      begin();
    } else {
      try {
        begin();
      } catch (...) {  // it has not started, so nothing is limited
        event_loop::current().timers().disarm(clock_);
        this->proceed = proceed_;
        throw;
      }
    }
  }
  void arm() noexcept {
    proceed_ = this->proceed;
    this->proceed = call_member<&timeout_op::on_end>;
    clock_.owner = this;
    clock_.deadline = deadline_after(limit_);
    clock_.fire = call_member<&clock::on_time>;
    event_loop::current().timers().arm(clock_);
  }

  void on_end() noexcept {
    event_loop::current().timers().disarm(clock_);
    proceed_(*this);
  }

  struct clock : timer {
    timeout_op* owner = nullptr;
    bool expired = false;

    void on_time() noexcept {
      expired = true;
      if (owner->cancel != nullptr) owner->cancel(*owner);  // null: its immediate result waits in the ready queue
    }
  };
  clock clock_;
  std::chrono::nanoseconds limit_;
  void (*proceed_)(operation_base&) noexcept = nullptr;
};

/// `co_await timeout(500ms, peer.read_some(buffer))` cancels the operation when `limit` has passed since the await
/// began, and throws `timed_out` (with as_expected: returns std::errc::timed_out). A result that arrives despite the
/// cancel wins.
///
/// Cancel: same as the operation. Errors: timed_out, and the errors of the operation.
template <class Rep, class Period, fallible_operation Op>
[[nodiscard]] timeout_op<Op> timeout(std::chrono::duration<Rep, Period> limit, Op&& op) noexcept
  requires std::is_rvalue_reference_v<Op&&>
{
  return timeout_op<Op>(whole_nanoseconds(limit), std::move(op));
}
/// The same with the limit last: `a && timeout(b, 3s) && c`.
template <fallible_operation Op, class Rep, class Period>
[[nodiscard]] timeout_op<Op> timeout(Op&& op, std::chrono::duration<Rep, Period> limit) noexcept
  requires std::is_rvalue_reference_v<Op&&>
{
  return timeout_op<Op>(whole_nanoseconds(limit), std::move(op));
}

}  // namespace gyre
