// gyre/coro/await_place.hpp: the place in the program's own code where a suspended task waits. For messages.
// For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/context.hpp>

#include <coroutine>
#include <source_location>

namespace gyre {

/// Returns the innermost await of a suspended task that is outside the library, or else the innermost one. The line is
/// 0 when there is none because the task is running.
[[nodiscard]] GYRE_API std::source_location place_of_wait(const frame_base* innermost) noexcept;

/// True for a place in the library's own headers or sources. Slow, because it compares file names.
[[nodiscard]] GYRE_API bool is_in_library(const std::source_location& place) noexcept;

/// Returns the place of the await that started the running coroutine, or else the place of the spawn. For reports about
/// its children. Never suspends. Cancel: never fails.
struct started_at {
  static constexpr bool ignores_cancel = true;
  std::source_location place;

  static constexpr bool await_ready() noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) noexcept {
    const frame_base& frame = coroutine.promise();
    place = frame.caller != nullptr ? frame.caller->where : place_of_spawn(frame);
    return false;
  }
  [[nodiscard]] std::source_location await_resume() const noexcept { return place; }

 protected:
  static std::source_location place_of_spawn(const frame_base& frame) noexcept {
    return frame.context->kind->describe(*frame.context).spawned_at;
  }
};

/// The same, but skips awaits in the library itself. Slower, because it compares file names. The place of the spawn is
/// that of the program even when the library's function was spawned directly: spawn(start_server(...)).
struct started_by_program_at : started_at {
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) noexcept {
    const frame_base& frame = coroutine.promise();
    place = frame.caller != nullptr ? place_of_wait(frame.caller) : place_of_spawn(frame);
    if (is_in_library(place)) place = place_of_spawn(frame);
    return false;
  }
};

}  // namespace gyre
