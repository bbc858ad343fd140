// gyre/coro/owned.hpp: a pointer or handle with one owner. For authors of types that can be moved but not copied.
#pragma once

#include <type_traits>
#include <utility>

namespace gyre {

/// Owns what `Handle`, a pointer or a coroutine handle, refers to. `Release` ends the ownership: a member function of
/// the target, or a function of the handle. `Empty` is the value that owns nothing, if it is not null.
///
///   owned<task_state*, &task_state::release> state_;   // the rest of the class moves by default
template <class Handle, auto Release, auto... Empty>
class owned {
 public:
  owned() noexcept = default;
  explicit owned(Handle handle) noexcept : handle_(handle) {}
  explicit owned(std::remove_pointer_t<Handle>& target) noexcept
    requires std::is_pointer_v<Handle>
      : handle_(&target) {}
  owned(owned&& other) noexcept : handle_(other.release()) {}
  owned& operator=(owned&& other) noexcept {
    owned moved(std::move(other));
    std::swap(handle_, moved.handle_);
    return *this;
  }
  ~owned() {
    if (handle_ == none()) return;
    // Forgets the target: clang 19 destroys a std::optional in a coroutine twice in one shape (docs/compilers.md).
    const Handle ended = release();
    if constexpr (std::is_member_function_pointer_v<decltype(Release)>)
      ((*ended).*Release)();
    else
      Release(ended);
  }

  [[nodiscard]] Handle get() const noexcept { return handle_; }
  /// Gives up the ownership.
  [[nodiscard]] Handle release() noexcept { return std::exchange(handle_, none()); }
  void reset() noexcept { const owned ended(release()); }

  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != none(); }
  [[nodiscard]] bool operator==(Handle other) const noexcept { return handle_ == other; }
  [[nodiscard]] Handle operator->() const noexcept { return handle_; }
  [[nodiscard]] auto& operator*() const noexcept { return *handle_; }

 private:
  static constexpr Handle none() noexcept {
    if constexpr (sizeof...(Empty) == 0)
      return nullptr;
    else
      return (Empty, ...);
  }

  Handle handle_ = none();
};

/// For `Release`.
inline constexpr auto delete_target = [](auto* target) noexcept { delete target; };
inline constexpr auto destroy_frame = [](auto coroutine) noexcept { coroutine.destroy(); };

}  // namespace gyre
