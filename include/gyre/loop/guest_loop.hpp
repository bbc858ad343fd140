// gyre/loop/guest_loop.hpp: what the loop of another library has to be able to do, to be driven by an event_loop.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/backend.hpp>

namespace gyre {

/// The loop of another library that shares the thread with an event_loop, which calls it: see event_loop::drive.
///
/// Thread: that of the loop.
class GYRE_API guest_loop {
 public:
  /// Runs what is ready there, and does not wait. Once a turn.
  virtual void poll() noexcept = 0;
  /// Waits until something there has been run, `descriptor` is readable, or `deadline` has passed. May return early.
  virtual void wait(int descriptor, io::monotonic_time deadline) noexcept = 0;

 protected:
  guest_loop() noexcept = default;
  guest_loop(const guest_loop&) = delete;
  guest_loop& operator=(const guest_loop&) = delete;
  ~guest_loop() = default;

  /// `wait` for whoever has nothing else to wait for.
  static void wait_for_descriptor(int descriptor, io::monotonic_time deadline) noexcept;
};

}  // namespace gyre
