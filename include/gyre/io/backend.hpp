// gyre/io/backend.hpp: what performs requests: one interface, several kernels' ways behind it.
#pragma once

#include <gyre/io/buffer_pool.hpp>
#include <gyre/io/request.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace gyre::io {

/// A point of CLOCK_MONOTONIC. Units: nanoseconds.
using monotonic_time = std::int64_t;

inline constexpr monotonic_time wait_forever = std::numeric_limits<monotonic_time>::max();
inline constexpr monotonic_time do_not_wait = 0;

/// Performs I/O requests for one loop.
///
/// Thread: everything but `wake` belongs to the thread that made it.
class backend {
 public:
  virtual ~backend() = default;
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;

  /// Starts a request (a multishot one when its code ends in _many). Never completes it inside the call,
  /// never fails: what goes wrong becomes the request's result.
  virtual void submit(request& r) noexcept = 0;

  /// Asks that a request ends early. Only a wish: it still completes exactly once, with -ECANCELED or with
  /// what it had achieved before. Nothing happens when it is not in flight.
  virtual void cancel(request& r) noexcept = 0;

  /// Looks for completions and appends them to `ready`, waiting until `deadline` for the first when there is
  /// none (`do_not_wait`: not at all). At most one system call that waits. May return early with nothing.
  virtual void wait(monotonic_time deadline, ready_list& ready) noexcept = 0;

  /// For a thread that waits in another library: a descriptor that is readable when `wait` would find something. Owned by
  /// the backend. Gives -errno when there is none to be had.
  virtual int pollable() noexcept = 0;
  /// Does all that `wait` does but wait. Gives until when `pollable` may be waited for instead: `deadline` or earlier;
  /// `do_not_wait` when there is something in `ready`, more to be had, or somebody has called `wake`.
  virtual monotonic_time prepare_wait(monotonic_time deadline, ready_list& ready) noexcept = 0;

  /// Makes a `wait` that is going on, or the next one, return. Any thread, and signal handlers.
  virtual void wake() noexcept = 0;

  /// Begins and ends the use of a descriptor. detach: only when nothing is in flight on it.
  virtual void attach(descriptor& d) noexcept = 0;
  virtual void detach(descriptor& d) noexcept = 0;

  /// "io_uring", "epoll".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// System calls made so far by the backend itself.
  [[nodiscard]] virtual std::uint64_t system_calls() const noexcept = 0;

  /// Requests that have been submitted and not completed.
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }
  /// The multishot requests among them that have not been cancelled. They may stay in flight for ever.
  [[nodiscard]] std::size_t endless() const noexcept { return endless_; }

  /// Requests that are submitted in the same turn share one system call.
  [[nodiscard]] bool batches() const noexcept { return batches_; }

  /// Where receive_many puts what arrives.
  [[nodiscard]] buffer_pool& buffers() noexcept { return buffers_; }

 protected:
  backend(std::uint32_t buffer_count, std::uint32_t buffer_size) : buffers_(buffer_count, buffer_size) {}

  /// With something to hand out already, the kernel is asked only now and then.
  static constexpr unsigned looks_that_may_be_skipped = 8;

  std::size_t in_flight_ = 0;
  std::size_t endless_ = 0;
  bool batches_ = false;

 private:
  buffer_pool buffers_;
};

}  // namespace gyre::io
