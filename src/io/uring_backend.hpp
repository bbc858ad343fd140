// src/io/uring_backend.hpp: performs requests on an io_uring.
#pragma once

#include <gyre/io/backend_choice.hpp>
#include <gyre/io/uring.hpp>

#include <cstdint>
#include <deque>
#include <vector>

namespace gyre::io {

/// One ring, one group of provided buffers, one doorbell. A request becomes a submission entry that names it; all
/// entries of a turn go to the kernel in the one call that also waits.
class uring_backend final : public backend {
 public:
  /// `refused.error` is 0 when the ring is usable. `allowed`: capabilities to use at most (tests mask some).
  uring_backend(const backend_options& options, const uring::capabilities& allowed, uring::refusal& refused);
  ~uring_backend() override;

  void submit(request& r) noexcept override;
  void cancel(request& r) noexcept override;
  void wait(monotonic_time deadline, ready_list& ready) noexcept override;
  void wake() noexcept override;
  void attach(descriptor& d) noexcept override;
  void detach(descriptor& d) noexcept override;
  [[nodiscard]] std::string_view name() const noexcept override { return "io_uring"; }
  [[nodiscard]] std::uint64_t system_calls() const noexcept override { return ring_.enters(); }

  [[nodiscard]] const uring::capabilities& found() const noexcept { return capabilities_; }

 private:
  [[nodiscard]] uring::submission& next_entry() noexcept;
  void queue(request& r) noexcept;
  void fill(uring::submission& entry, request& r) noexcept;
  void queue_cancel(request& r) noexcept;
  void cancel_failed(std::uint64_t target) noexcept;
  void arm_doorbell() noexcept;
  void refill_buffers() noexcept;
  void rearm_starved() noexcept;
  void reap(ready_list& ready) noexcept;
  void finish_one(request& r, int result, std::uint32_t flags, ready_list& ready) noexcept;
  void deliver_many(multishot& m, int result, std::uint32_t flags, ready_list& ready) noexcept;
  void end_multishot(multishot& m) noexcept;
  void hand_over(multishot& m, int result, std::uint32_t buffer, ready_list& ready) noexcept;

  uring::ring ring_;
  uring::buffer_ring provided_;
  uring::capabilities capabilities_;
  int doorbell_ = -1;
  bool doorbell_armed_ = false;
  std::uint32_t with_kernel_ = 0;         // buffers in the provided group
  std::uint32_t wanted_with_kernel_ = 0;  // few, so that they stay in the cache; doubled when they run out
  unsigned skipped_looks_ = 0;
  ready_list early_;                  // completed without the kernel
  std::deque<multishot*> starved_;    // stopped for want of buffers
  std::vector<request*> cancelling_;  // in flight, and asked to end
};

}  // namespace gyre::io
