// gyre/coro/shared.hpp: a pointer with several owners. For authors of types whose copies refer to the same.
#pragma once

#include <cstddef>
#include <utility>

namespace gyre {

/// Base of what has several owners.
struct shared_target {
  shared_target() noexcept = default;
  shared_target& operator=(shared_target&&) = delete;
  virtual ~shared_target() = default;
  std::size_t owners = 1;  // counted atomically
};

/// Owns a target together with its copies. The last one deletes it. Thread: any for copies.
template <class T>
class shared {
 public:
  shared() noexcept = default;
  /// Takes over the first ownership.
  explicit shared(T* made) noexcept : target_(made) {}
  shared(const shared& other) noexcept : target_(other.target_) {
    if (target_ != nullptr) __atomic_fetch_add(&target_->owners, 1, __ATOMIC_RELAXED);
  }
  shared(shared&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  shared& operator=(shared other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }
  ~shared() {
    T* const ended = std::exchange(target_, nullptr);
    if (ended != nullptr && __atomic_sub_fetch(&ended->owners, 1, __ATOMIC_ACQ_REL) == 0) delete ended;
  }

  [[nodiscard]] explicit operator bool() const noexcept { return target_ != nullptr; }
  [[nodiscard]] T* operator->() const noexcept { return target_; }

 private:
  T* target_ = nullptr;
};

}  // namespace gyre
