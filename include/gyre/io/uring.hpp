// gyre/io/uring.hpp: the io_uring of the kernel as typed C++, usable without the rest of gyre (CMake: gyre::uring).
//
// Inline, no dependency, no coroutine. One ring belongs to one thread.
//
//   abi           constants and memory layouts
//   submission    fills submission entries, one function an operation
//   ring          an instance: its queues, and the call that drives them
//   buffer_ring   buffers that the kernel takes when data arrives
//   capabilities  whether a ring can be had here, and what it can really do
#pragma once

#include <gyre/io/uring/abi.hpp>
#include <gyre/io/uring/buffer_ring.hpp>
#include <gyre/io/uring/capabilities.hpp>
#include <gyre/io/uring/ring.hpp>
#include <gyre/io/uring/submission.hpp>
