// src/coro/nested_frames.cpp: destroys chains of frames with a limited stack.
#include <gyre/coro/nested_frames.hpp>

#include <utility>

namespace gyre {
namespace {

constexpr unsigned max_levels = 100;

constinit thread_local unsigned levels = 0;  // number of calls that are destroying a frame on this thread
// Frames that the outermost call destroys. Linked by `caller`, which a frame without an awaiter does not need.
constinit thread_local frame_base* waiting = nullptr;

void destroy_one_level_down(frame_base& frame) noexcept {
  ++levels;
  frame.handle().destroy();
  --levels;
}

}  // namespace

void destroy_nested(frame_base& frame) noexcept {
  if (levels == max_levels) [[unlikely]] {
    frame.caller = std::exchange(waiting, &frame);
    return;
  }
  destroy_one_level_down(frame);
  if (levels > 0) return;
  while (frame_base* const next = waiting) {
    waiting = next->caller;
    destroy_one_level_down(*next);
  }
}

}  // namespace gyre
