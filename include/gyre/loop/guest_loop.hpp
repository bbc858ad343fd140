// gyre/loop/guest_loop.hpp: the interface through which an event_loop drives the loop of another library.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/backend.hpp>

namespace gyre {

/// The loop of another library that shares the thread with an event_loop. The event_loop calls it: see
/// event_loop::drive.
///
/// Thread: that of the loop.
class GYRE_API guest_loop {
 public:
  /// Runs the ready work of the guest without waiting. Called once per turn.
  virtual void poll() noexcept = 0;
  /// Waits until the guest has run something, `descriptor` is readable, or `deadline` has passed. May return early.
  virtual void wait(int descriptor, io::monotonic_time deadline) noexcept = 0;

 protected:
  guest_loop() noexcept = default;
  guest_loop& operator=(guest_loop&&) = delete;
  ~guest_loop() = default;

  /// An implementation of `wait` for a guest that has nothing else to wait for.
  static void wait_for_descriptor(int descriptor, io::monotonic_time deadline) noexcept;
};

}  // namespace gyre
