// gyre/io/uring.hpp: the kernel's io_uring as typed C++, usable without the rest of gyre (CMake: gyre::uring).
//
// Header-only, no dependencies, no coroutines. One ring belongs to one thread.
//
//   abi           constants and memory layouts
//   submission    fills submission entries, one function per operation
//   ring          an instance: its queues, and the call that drives them
//   buffer_ring   buffers that the kernel takes when data arrives
//   capabilities  the availability of a ring on this machine, and its tested features
#pragma once

#include <gyre/io/uring/abi.hpp>
#include <gyre/io/uring/buffer_ring.hpp>
#include <gyre/io/uring/capabilities.hpp>
#include <gyre/io/uring/ring.hpp>
#include <gyre/io/uring/submission.hpp>
