// gyre/loop/as_expected.hpp: returns an operation's error as a value instead of an exception.
#pragma once

#include <gyre/coro/misuse.hpp>

#include <concepts>
#include <expected>
#include <system_error>
#include <type_traits>
#include <utility>

namespace gyre {

/// An awaitable with a non-throwing result: `take_result()` returns std::expected<T, std::error_code>.
template <class Op>
concept fallible_operation = requires(Op& op) {
  typename Op::gyre_awaitable_tag;
  { op.take_result().error() } -> std::convertible_to<std::error_code>;
};

template <fallible_operation Op>
struct [[nodiscard("co_await it")]] expected_op : Op {
  explicit expected_op(Op&& op) noexcept : Op(std::move(op)) {}
  auto await_resume() { return Op::take_result(); }
};

/// `co_await as_expected(peer.read_some(buffer))` returns std::expected<std::size_t, std::error_code>. No error of the
/// operation throws or allocates, its own time-out included.
///
/// Cancel: same as the operation. A cancel of the surrounding scope still throws `cancelled`; otherwise a loop that
/// retries on every error would spin for ever.
template <fallible_operation Op>
  requires std::is_rvalue_reference_v<Op&&>
[[nodiscard]] expected_op<Op> as_expected(Op&& operation) noexcept {
  return expected_op<Op>(std::move(operation));
}

/// Rejects a named operation.
template <fallible_operation Op>
[[nodiscard]] expected_op<Op> as_expected(Op& named) noexcept {
  static_assert(misused<Op>, "as_expected takes the operation over: use as_expected(std::move(op))");
  return expected_op<Op>(std::move(named));
}

}  // namespace gyre
