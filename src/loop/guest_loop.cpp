// src/loop/guest_loop.cpp: waits for a descriptor, and nothing else.
#include <gyre/io/kernel.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/guest_loop.hpp>

#include <poll.h>

#include <algorithm>
#include <ctime>

namespace gyre {

void guest_loop::wait_for_descriptor(int descriptor, io::monotonic_time deadline) noexcept {
  pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
  const io::monotonic_time rest = std::max<io::monotonic_time>(0, deadline - event_loop::current().now());
  const timespec left{.tv_sec = rest / 1'000'000'000, .tv_nsec = rest % 1'000'000'000};
  io::sockets().ppoll(&watched, 1, deadline == io::wait_forever ? nullptr : &left);
}

}  // namespace gyre
