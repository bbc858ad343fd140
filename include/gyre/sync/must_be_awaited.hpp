// gyre/sync/must_be_awaited.hpp: detects an operation that is dropped without an await. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/misuse.hpp>

namespace gyre {

/// Member `called` of a queued_operation that must not be forgotten: `auto guard = mutex.scoped_lock();` and
/// `std::lock_guard<gyre::mutex>` compile, and lock nothing. Debug builds stop the program when an operation is
/// destroyed that was neither awaited nor moved from. A moved operation is not checked: its new owner may have been
/// cancelled before the await.
class GYRE_API must_be_awaited {
 public:
  /// `call` names the operation: "mutex::lock()". Lifetime: must outlive this.
  explicit must_be_awaited(const char* call) noexcept : call_(checks_everything ? call : nullptr) {}
  must_be_awaited(must_be_awaited&& other) noexcept { other.call_ = nullptr; }
  must_be_awaited& operator=(must_be_awaited&&) = delete;
  ~must_be_awaited() {
    if constexpr (checks_everything)
      if (call_ != nullptr) [[unlikely]]
        stop_if_forgotten();
  }

  /// Works in every build, because a release build of the library may be used by a debug build of the program.
  void awaited() noexcept { call_ = nullptr; }

 private:
  void stop_if_forgotten() const noexcept;

  const char* call_ = nullptr;  // null: nothing to check
};

}  // namespace gyre
