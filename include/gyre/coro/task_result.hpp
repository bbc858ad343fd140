// gyre/coro/task_result.hpp: storage for a coroutine's value until its awaiter takes it. For authors of operations.
#pragma once

#include <gyre/coro/converted.hpp>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace gyre {

/// The value half of a promise. An exception is kept in its frame_base.
template <class T>
class task_result {
 public:
  task_result() noexcept {}
  task_result(const task_result&) = delete;
  task_result& operator=(const task_result&) = delete;
  ~task_result() {
    if (has_value_) value_.~T();
  }

  template <class U = T>
    requires std::is_convertible_v<U, T>
  void return_value(U&& value) noexcept(std::is_nothrow_convertible_v<U, T>) {
    ::new (static_cast<void*>(&value_)) T(converted_to<T>(std::forward<U>(value)));
    has_value_ = true;
  }
  /// Returns the value without moving it. There must be one.
  [[nodiscard]] T& value() noexcept { return value_; }
  /// Moves the value out. To be called once.
  T take_value() { return std::move(value_); }

 private:
  static_assert(alignof(T) <= alignof(std::max_align_t), "return an over-aligned type through a pointer");
  union {
    T value_;
  };
  bool has_value_ = false;
};

template <class T>
class task_result<T&> {
 public:
  void return_value(T& value) noexcept { value_ = &value; }
  [[nodiscard]] T& value() noexcept { return *value_; }
  T& take_value() { return *value_; }

 private:
  T* value_ = nullptr;
};

template <>
class task_result<void> {
 public:
  void return_void() noexcept {}
  void value() noexcept {}
  void take_value() noexcept {}
};

}  // namespace gyre
