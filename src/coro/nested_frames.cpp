// src/coro/nested_frames.cpp: destroys chains of frames with a limited stack.
#include <gyre/coro/nested_frames.hpp>

#include <utility>

namespace gyre {
namespace {

constexpr unsigned most_levels = 100;

struct ending_frames {
  unsigned levels = 0;
  frame_base* waiting = nullptr;  // linked by `caller`, which a frame without an awaiter does not need
};
constinit thread_local ending_frames ending;

void destroy_one_level_down(frame_base& frame) noexcept {
  ++ending.levels;
  frame.handle().destroy();
  --ending.levels;
}

}  // namespace

void destroy_nested(frame_base& frame) noexcept {
  if (ending.levels == most_levels) [[unlikely]] {
    frame.caller = std::exchange(ending.waiting, &frame);
    return;
  }
  destroy_one_level_down(frame);
  if (ending.levels > 0) return;
  while (frame_base* const next = ending.waiting) {
    ending.waiting = next->caller;
    destroy_one_level_down(*next);
  }
}

}  // namespace gyre
