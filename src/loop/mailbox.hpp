// src/loop/mailbox.hpp: the part of a loop that other threads write.
#pragma once

#include <gyre/loop/event_loop.hpp>

#include "inbox.hpp"

#include <atomic>

namespace gyre {

struct alignas(64) event_loop::mailbox {
  inbox posted;
  std::atomic<bool> sleeping{false};
  std::atomic<int> posting{0};  // threads inside `post`; their items may run before they leave it
};

}  // namespace gyre
