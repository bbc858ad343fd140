// src/io/epoll_backend.hpp: performs requests with non-blocking calls, and waits for readiness with epoll.
#pragma once

#include <gyre/io/backend_choice.hpp>
#include <gyre/io/uring/capabilities.hpp>

#include "large_turn.hpp"
#include "multishot_line.hpp"
#include "offloaded_calls.hpp"

#include <sys/types.h>

#include <vector>

namespace gyre::io {

/// Every descriptor is registered once, edge-triggered, for both directions. A request is tried at once when the
/// descriptor is believed ready. Otherwise it is parked in the descriptor until an edge comes.
///
/// Completed requests stay in flight until `wait` hands them out, as with a ring. So a caller that waits for a
/// descriptor to become quiet never finds it quiet while a completion is still to come.
class epoll_backend : public backend {
 public:
  /// Usable if `refused.error` is 0; otherwise it may only be destroyed. Errors: std::bad_alloc.
  epoll_backend(const backend_options& options, uring::refusal& refused);
  ~epoll_backend() override;

  void submit(request& r) noexcept override;
  void cancel(request& r) noexcept override;
  void wait(monotonic_time deadline, ready_list& ready) noexcept override;
  int pollable() noexcept override { return epoll_; }
  monotonic_time prepare_wait(monotonic_time deadline, ready_list& ready) noexcept override;
  void wake() noexcept override;
  void attach(descriptor& d) noexcept override;
  void detach(descriptor& d) noexcept override;
  [[nodiscard]] std::string_view name() const noexcept override { return "epoll"; }
  [[nodiscard]] std::uint64_t system_calls() const noexcept override { return system_calls_; }

 private:
  struct event_batch;

  [[nodiscard]] uring::refusal open() noexcept;

  // epoll_backend.cpp: requests and descriptors
  [[nodiscard]] int add(descriptor& d) noexcept;
  void go_on(request& r) noexcept;
  void complete(request& r, int result) noexcept;
  void line_up(request& r) noexcept;
  void no_longer_in_flight(request& r) noexcept;
  void settle(request* r) noexcept;
  void settle_files() noexcept;

  // epoll_wait.cpp: the kernel's events
  [[nodiscard]] monotonic_time begin_wait(monotonic_time deadline) noexcept;
  void end_wait(ready_list& ready) noexcept;
  [[nodiscard]] bool must_look() noexcept;
  void look(monotonic_time deadline) noexcept;
  [[nodiscard]] int event_limit() noexcept;
  [[nodiscard]] int ask_kernel(event_batch& batch, monotonic_time deadline) noexcept;
  [[nodiscard]] uring::refusal try_wait() noexcept;
  void handle(descriptor& d, std::uint32_t events) noexcept;
  void connection_event(request& r, std::uint32_t events) noexcept;
  void retry_connects() noexcept;
  void hand_out(ready_list& ready) noexcept;
  void hand_out_bulk(ready_list& ready) noexcept;
  void forget_events_of(const descriptor& d) noexcept;

  // epoll_multishot.cpp: requests with many results
  void submit_multishot(multishot& m, int error) noexcept;
  void cancel_multishot(multishot& m) noexcept;
  [[nodiscard]] static constexpr int max_in_turn(opcode code) noexcept;
  void serve_line() noexcept;
  void pump_if_parked(multishot& m) noexcept;
  void pump(multishot& m) noexcept;
  template <opcode Code>
  void pump_as(multishot& m) noexcept;
  [[nodiscard]] bool accept_one(multishot& m) noexcept;
  template <opcode Code>
  [[nodiscard]] bool receive_one(multishot& m) noexcept;
  template <opcode Code>
  [[nodiscard]] ssize_t fill_buffer(const multishot& m, std::uint32_t buffer) noexcept;
  void deliver(multishot& m, int result, std::uint32_t buffer) noexcept;
  void end(multishot& m, int result) noexcept;

  int epoll_ = -1;
  int doorbell_ = -1;
  ready_list completed_;                 // to be handed out by wait
  ready_list later_;                     // connects to a Unix socket whose backlog is full; no event will come
  multishot_line turn_;                  // can continue at once
  multishot_line starved_;               // need a buffer, and the pool is empty
  large_turn large_;                     // the same for large receives
  std::vector<descriptor*> registered_;  // indexed by number
  std::size_t registered_count_ = 0;
  event_batch* batch_ = nullptr;  // events being handled; detach removes a descriptor's events from it
  bool rang_ = false;             // the doorbell was rung since prepare_wait began
  bool delivered_ = false;        // something was delivered in this wait, so the caller of wait has work to do
  unsigned calls_since_look_ = 0;
  bool has_nanoseconds_ = true;  // epoll_pwait2 works: Linux 5.11, and no filter denies it
  std::uint64_t system_calls_ = 0;
  offloaded_calls files_{*this};
};

/// The parking place for a request of this direction.
inline request*& parking_place(const request& r) noexcept {
  return reads(r.code) ? r.target->reader : r.target->writer;
}

/// A connect over a Unix socket completes at once, or the backlog of its peer is full. It is never in progress.
bool connects_locally(const request& r) noexcept;

}  // namespace gyre::io
