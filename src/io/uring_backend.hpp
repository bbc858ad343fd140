// src/io/uring_backend.hpp: performs requests on an io_uring.
#pragma once

#include <gyre/io/backend_choice.hpp>
#include <gyre/io/message_multishot.hpp>
#include <gyre/io/raw_request.hpp>
#include <gyre/io/uring.hpp>

#include "large_turn.hpp"
#include "multishot_line.hpp"
#include "offloaded_calls.hpp"

#include <atomic>

namespace gyre::io {

/// One ring, one group of provided buffers, one doorbell. Each request becomes a submission entry that refers to it.
/// All entries of a turn go to the kernel in the call that also waits.
///
///   uring_backend.cpp    the ring and its resources, the system call
///   uring_submit.cpp     requests into the ring
///   uring_reap.cpp       completions out of it
///   uring_multishot.cpp  requests with many results that the backend has to continue itself
///   uring_files.cpp      files; threads of the pool perform some of these requests
///   uring_end.cpp        the end of a ring with requests in flight
class uring_backend : public backend {
 public:
  /// `known` is the result of this process's self-test (tests leave out parts of it); nullptr runs the self-test on
  /// this ring. Usable if `refused.error` is 0; otherwise it may only be destroyed. Errors: std::bad_alloc.
  uring_backend(const backend_options& options, const uring::capabilities* known, uring::refusal& refused);
  ~uring_backend() override;

  void submit(request& r) noexcept override;
  void cancel(request& r) noexcept override;
  void wait(monotonic_time deadline, ready_list& ready) noexcept override;
  int pollable() noexcept override;
  monotonic_time prepare_wait(monotonic_time deadline, ready_list& ready) noexcept override;
  void wake() noexcept override;
  void attach(descriptor& d) noexcept override { d.attached = true; }
  void detach(descriptor& d) noexcept override { d.attached = false; }
  [[nodiscard]] std::string_view name() const noexcept override { return "io_uring"; }
  [[nodiscard]] std::uint64_t system_calls() const noexcept override { return ring_.enters() + direct_calls_; }

  /// The features of the kernel that this backend uses.
  [[nodiscard]] const uring::capabilities& capabilities() const noexcept { return capabilities_; }

 private:
  [[nodiscard]] uring::refusal open(const backend_options& options, const uring::capabilities* known) noexcept;
  bool enter(std::uint32_t wanted, monotonic_time deadline = do_not_wait) noexcept;
  void wait_for_memory() noexcept;
  void sleep(monotonic_time deadline) noexcept;
  [[nodiscard]] bool must_look() noexcept;
  void arm_doorbell() noexcept;
  void refill_buffers() noexcept;
  /// Without multishot operations, datagrams are received into buffers that the kernel does not have.
  [[nodiscard]] std::uint32_t max_with_kernel() noexcept {
    return capabilities_.multishot_receive ? buffers().count() : buffers().count() / 2;
  }

  [[nodiscard]] uring::submission& next_entry() noexcept;
  void queue(request& r) noexcept;
  void line_up(request& r) noexcept;
  void queue_pause(request& r) noexcept;
  void queue_pause_of_cancel(request& r) noexcept;
  void queue_cancel(request& r) noexcept;
  [[nodiscard]] bool receives_many(request& r) noexcept;
  void fill(uring::submission& entry, request& r) noexcept;

  void reap(ready_list& ready) noexcept;
  inline void link_completion(const uring::completion& c, ready_list& ready) noexcept;
  inline void finish(request& r, int result, std::uint32_t flags, ready_list& ready) noexcept;
  void end(request& r, int result, ready_list& ready) noexcept;
  void cancel_answered(request& r, int result, ready_list& ready) noexcept;
  [[nodiscard]] bool resumes(request& r, int& result) noexcept;
  void received(multishot& m, int result, std::uint32_t flags, ready_list& ready) noexcept;
  void receive_messages_now(multishot& m, ready_list& ready) noexcept;
  void large_arrived(multishot& m, int result, ready_list& ready) noexcept;
  void receive_large(multishot& m, ready_list& ready) noexcept;
  [[nodiscard]] int fill_large_buffer(multishot& m, ready_list& ready) noexcept;
  void raw_completed(raw_request& r, int result, std::uint32_t flags, ready_list& ready) noexcept;
  void accepted(multishot& m, int result, bool last, ready_list& ready) noexcept;
  static void hand_over(multishot& m, int result, std::uint32_t buffer, ready_list& ready) noexcept {
    m.deliver(m, result, buffer);
    if (m.listed) return;
    m.listed = true;
    ready.push_back(m);
  }
  void hand_over_last(multishot& m, int result, std::uint32_t buffer, bool repeats, ready_list& ready) noexcept;
  void set_idle(request& r) noexcept {
    r.where = phase::idle;
    --in_flight_;
    --r.target->in_flight;
  }

  static void fill_file(uring::submission& entry, const file_request& r) noexcept;
  [[nodiscard]] static bool must_offload(const request& r) noexcept;
  /// Only one at a time: a thread of the pool that was just busy is still awake. Many at
  /// once are better left to the kernel.
  [[nodiscard]] bool better_offload(const request& r) noexcept {
    return (r.code == opcode::write || r.code == opcode::write_vector) && !offloaded_.outstanding() &&
           static_cast<const file_request&>(r).flags == file_request::may_wait_for_memory;
  }
  void offload(request& r) noexcept;
  [[nodiscard]] bool file_resumes(request& r, int& result) noexcept;
  [[nodiscard]] bool take_offloaded(ready_list& ready) noexcept;
  void settle_offloaded() noexcept;

  void rearm_starved(std::uint32_t max_count) noexcept;
  [[nodiscard]] bool end_cancelled_starved(ready_list& ready) noexcept;
  [[nodiscard]] bool drain() noexcept;
  void discard_completions() noexcept;
  void set_aside(request& r) noexcept;

  static constexpr std::uint16_t buffer_group = 0;

  uring::ring ring_;
  uring::buffer_ring provided_;
  uring::capabilities capabilities_;
  int doorbell_ = -1;
  std::atomic<int> signal_ = -1;  // once requested: signalled by the kernel and by wake when there is work
  bool doorbell_armed_ = false;
  bool rang_ = false;               // the doorbell was rung since prepare_wait began
  bool ran_out_ = false;            // the provided group ran out of buffers since the last refill
  bool starved_cancelled_ = false;  // a receive may have been cancelled while some were starved
  unsigned calls_since_look_ = 0;
  unsigned shortages_ = 0;                // pauses for lack of kernel memory since the last successful call
  std::uint32_t wanted_with_kernel_ = 0;  // few, so that they stay in the cache; doubled when they run out
  multishot_line starved_;                // receives that stopped because there was no buffer left
  large_turn large_;                      // large receives that had to stop although more was available
  offloaded_calls offloaded_{*this};
};

}  // namespace gyre::io
