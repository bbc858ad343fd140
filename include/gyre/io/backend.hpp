// gyre/io/backend.hpp: performs requests: one interface for several kernel facilities. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/buffer_pool.hpp>
#include <gyre/io/pipe_pool.hpp>
#include <gyre/io/request.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace gyre::io {

struct kernel;

/// A point of CLOCK_MONOTONIC. Units: nanoseconds.
using monotonic_time = std::int64_t;

inline constexpr monotonic_time wait_forever = std::numeric_limits<monotonic_time>::max();
inline constexpr monotonic_time do_not_wait = 0;

/// Performs I/O requests for one loop.
///
/// Thread: everything but `wake` belongs to the thread that made the backend.
class backend {
 public:
  virtual ~backend() = default;
  backend& operator=(backend&&) = delete;

  /// Starts a request (a multishot one when its code ends in _many). Never completes it inside the call, and never
  /// fails: an error becomes the request's result.
  virtual void submit(request& r) noexcept = 0;

  /// Asks for the early end of a request. Best effort: the request still completes exactly once, with -ECANCELED or
  /// with the result that it had reached. No-op when it is not in flight.
  virtual void cancel(request& r) noexcept = 0;

  /// Collects completions and appends them to `ready`. When there is none, waits until `deadline` for the first one
  /// (`do_not_wait`: returns at once). Makes at most one system call that waits. May return early with nothing.
  virtual void wait(monotonic_time deadline, ready_list& ready) noexcept = 0;

  /// For a thread that waits in another library: a descriptor that is readable when `wait` would find something. Owned
  /// by the backend. Returns -errno when none is available.
  virtual int pollable() noexcept = 0;
  /// Does the same as `wait`, except for waiting. Returns the time until which the caller may wait for `pollable`
  /// instead: `deadline` or earlier. Returns `do_not_wait` when `ready` is not empty, when more completions are
  /// available, or after a `wake`.
  virtual monotonic_time prepare_wait(monotonic_time deadline, ready_list& ready) noexcept = 0;

  /// Makes the current `wait`, or the next one, return. Thread: any; signal handlers.
  virtual void wake() noexcept = 0;

  /// Begin and end the use of a descriptor. `submit` attaches a descriptor that is not attached. Its owner must detach
  /// it before it ends or closes the descriptor, and only when nothing is in flight on it.
  virtual void attach(descriptor& d) noexcept = 0;
  virtual void detach(descriptor& d) noexcept = 0;

  /// Tries a one-shot request with one non-blocking system call, the same on every backend.
  ///
  /// Returns true when it is done; `result` is then a count, a descriptor or -errno. Returns false when it would have
  /// to wait; then the target's `readable` or `writable` is cleared, and the caller may submit it. Never touches
  /// `where`, never completes. A transfer shorter than requested clears the target's flag too, because the next attempt
  /// would only find EAGAIN. Exceptions: `hangup` is set, or the read stopped at passed descriptors.
  GYRE_API bool attempt(request& r) noexcept;
  /// recv(2) of `size` bytes of a stream without waiting. Returns the count, 0 at the end of the stream, or -errno.
  /// Clears the descriptor's `readable` when nothing is left to read.
  [[nodiscard]] GYRE_API long receive_now(descriptor& d, void* into, std::size_t size) noexcept;
  /// send(2) of `size` bytes without waiting. Returns the count, or -errno. Clears the descriptor's `writable` when not
  /// all of them were taken.
  [[nodiscard]] GYRE_API long send_now(descriptor& d, const void* from, std::size_t size) noexcept;

  /// The calls of the operating system that this backend and its loop use.
  [[nodiscard]] const kernel& calls() const noexcept { return *calls_; }

  /// "io_uring", "epoll".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// The number of system calls made so far by the backend itself.
  [[nodiscard]] virtual std::uint64_t system_calls() const noexcept = 0;
  /// Counts a call that was made on its behalf.
  void count_direct_call() noexcept { ++direct_calls_; }

  /// The number of requests that were submitted and have not completed.
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }
  /// The number of multishot requests among them that were not cancelled. They may stay in flight for ever.
  [[nodiscard]] std::size_t endless() const noexcept { return endless_; }

  /// True when requests that are submitted in the same turn share one system call.
  [[nodiscard]] bool batches() const noexcept { return batches_; }

  /// The pool into which receive_many and receive_large_many receive.
  [[nodiscard]] buffer_pool& buffers() noexcept { return buffers_; }
  /// The pipes for streams that move bulk.
  [[nodiscard]] pipe_pool& pipes() noexcept { return pipes_; }
  /// True when the last `wait` has received something small, or a connection. Callers that move bulk then take smaller
  /// steps.
  [[nodiscard]] bool found_small() const noexcept { return found_small_; }

 protected:
  /// Uses the kernel of this thread, see kernel_scope.
  GYRE_API backend(buffer_pool::amount common, buffer_pool::amount large);

  /// While there are completions to hand out, only one call of `wait` in this many asks the kernel for more.
  static constexpr unsigned calls_per_look = 8;

  /// Records a result of something that receives, other than into large buffers.
  void note_received(int result) noexcept {
    constexpr unsigned small = 16 * 1024;  // an error, too, is more
    if (static_cast<unsigned>(result) < small) found_small_ = true;
  }

  std::uint64_t direct_calls_ = 0;  // of a backend that otherwise makes none
  std::size_t in_flight_ = 0;
  std::size_t endless_ = 0;
  bool batches_ = false;
  bool found_small_ = false;  // since `wait` began
  ready_list bulk_;           // wait_bulk requests that can be completed; `wait` completes one

 private:
  const kernel* calls_;
  buffer_pool buffers_;
  pipe_pool pipes_;
};

}  // namespace gyre::io
