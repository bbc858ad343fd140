// src/loop/mailbox.hpp: the part of a loop that other threads write.
#pragma once

#include <gyre/io/kernel_scope.hpp>
#include <gyre/loop/event_loop.hpp>

#include "inbox.hpp"

#include <atomic>

namespace gyre {

struct alignas(64) event_loop::mailbox {
  explicit mailbox(const io::kernel& of_backend) noexcept : calls(of_backend) {}

  inbox posted;
  std::atomic<bool> sleeping{false};
  std::atomic<int> posting{0};  // threads inside `post`; their items may run before they leave it

  io::kernel_scope calls;  // kernel::here() of the thread; not in event_loop.hpp, which every program includes
};

}  // namespace gyre
