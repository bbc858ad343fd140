// gyre/loop/raw_operation.hpp: awaits any io_uring operation, filled in by hand.
#pragma once

#include <gyre/io/raw_request.hpp>
#include <gyre/io/uring/submission.hpp>
#include <gyre/loop/io_operation.hpp>

#include <cstdint>
#include <expected>
#include <system_error>
#include <type_traits>
#include <utility>

namespace gyre {

/// The kernel's answer.
struct raw_result {
  int value = 0;            ///< ≥ 0: see the operation
  std::uint32_t flags = 0;  ///< uring::cqe_…
};

struct ignore_partial_results {
  void operator()(raw_result) const noexcept {}
};

/// The operation of raw_operation(): one submission entry.
template <class Each>
class [[nodiscard("co_await it")]] raw_op : public operation<raw_op<Each>, io::raw_request> {
 public:
  raw_op(const uring::submission& filled, Each each) noexcept : each_(std::move(each)) {
    this->entry = filled;
    this->code = io::opcode::raw;
  }
  raw_op(raw_op&&) noexcept = default;
  raw_op& operator=(raw_op&&) = delete;
  ~raw_op() { expect_ended(*this, "in the middle of a raw operation"); }

  bool try_now() noexcept {
    if ((this->entry.flags & io::refused_entry_flags) == 0) return false;
    this->result = -static_cast<int>(std::errc::invalid_argument);
    return true;
  }
  void start() noexcept {
    this->complete = call_member<&raw_op::on_complete>;
    if constexpr (!std::is_same_v<Each, ignore_partial_results>)
      this->deliver = [](io::raw_request& r) noexcept {
        static_cast<raw_op&>(r).each_(raw_result(r.result, r.completion_flags));
      };
    this->target = &io::unnamed_descriptor();
    event_loop::current().backend().submit(*this);
  }
  void on_cancel() noexcept { event_loop::current().backend().cancel(*this); }

  std::expected<raw_result, std::error_code> take_result() const {
    if (this->result >= 0) return raw_result(this->result, this->completion_flags);
    return std::unexpected(this->error_of(this->result));
  }
  [[noreturn]] void fail(std::error_code reason) const { throw io_error(reason, "raw_operation", {}); }
  [[nodiscard]] bool fully_succeeded() const noexcept { return this->result >= 0; }

 private:
  Each each_;
};

/// Performs any operation that this loop's ring supports, so that no program needs a second ring. The entry is filled
/// in with gyre/io/uring/submission.hpp, or by hand:
///
///   gyre::uring::submission entry;
///   gyre::uring::prepare_splice(entry, pipe, -1, socket, -1, 65536, 0);
///   const auto moved = co_await gyre::raw_operation(entry);
///
/// Returns the result of the last completion. For operations with many completions (multishot), `each` is called with
/// the earlier ones. It runs inside the loop's turn, must not throw, and must not use the loop.
/// Lifetime: memory to which the entry points must stay valid until the await returns.
/// Cancel: asks the kernel to end the operation, and waits for that. A result that came first wins.
/// Errors: io_error with the kernel's errno, including EAGAIN and EINTR: nothing is retried;
/// std::errc::operation_not_supported on epoll; std::errc::invalid_argument for an entry that is linked to the next
/// one, drains the ring, or requests no completion. See io_uring_enter(2).
template <class Each = ignore_partial_results>
[[nodiscard("co_await it")]] raw_op<Each> raw_operation(const uring::submission& entry, Each each = {}) noexcept {
  return {entry, std::move(each)};
}

}  // namespace gyre
