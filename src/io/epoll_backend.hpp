// src/io/epoll_backend.hpp: performs requests with non-blocking calls, and waits for readiness with epoll.
#pragma once

#include <gyre/io/backend_choice.hpp>

#include <vector>

namespace gyre::io {

/// Every descriptor is registered once, edge-triggered, for both directions. A request is tried at once when the
/// descriptor is thought ready, else it is parked in the descriptor until an edge comes.
class epoll_backend final : public backend {
 public:
  /// `error`: errno when the kernel refuses the two descriptors that it needs; the backend is unusable then.
  epoll_backend(const backend_options& options, int& error) noexcept(false);
  ~epoll_backend() override;

  void submit(request& r) noexcept override;
  void cancel(request& r) noexcept override;
  void wait(monotonic_time deadline, ready_list& ready) noexcept override;
  void wake() noexcept override;
  void attach(descriptor& d) noexcept override;
  void detach(descriptor& d) noexcept override;
  [[nodiscard]] std::string_view name() const noexcept override { return "epoll"; }
  [[nodiscard]] std::uint64_t system_calls() const noexcept override { return system_calls_; }

 private:
  struct event_batch;

  [[nodiscard]] bool must_look() noexcept;
  void look(monotonic_time deadline) noexcept;
  void handle(descriptor& d, std::uint32_t events) noexcept;
  void go_on(request*& parked) noexcept;
  void complete(request& r) noexcept;
  void deliver(multishot& m, int result, std::uint32_t buffer, bool last) noexcept;
  void pump(multishot& m) noexcept;
  [[nodiscard]] bool accept_one(multishot& m) noexcept;
  [[nodiscard]] bool receive_one(multishot& m) noexcept;
  void retry_waiting() noexcept;

  int epoll_;
  int doorbell_;
  ready_list completed_;
  std::vector<multishot*> starved_;      // want a buffer, and the pool is empty
  std::vector<multishot*> still_ready_;  // had their share of this turn
  event_batch* batch_ = nullptr;         // the events that are being handled: detach removes a descriptor's
  unsigned skipped_looks_ = 0;
  std::uint64_t system_calls_ = 0;
};

}  // namespace gyre::io
