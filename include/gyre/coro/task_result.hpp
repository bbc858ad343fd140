// gyre/coro/task_result.hpp: where a coroutine's value or exception waits for whoever awaits it.
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace gyre {

/// The result half of a promise: nothing yet, a value, or an exception.
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
    requires std::is_constructible_v<T, U>
  void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
    ::new (static_cast<void*>(&value_)) T(std::forward<U>(value));
    has_value_ = true;
  }
  void unhandled_exception() noexcept { failure_ = std::current_exception(); }

  /// The value, moved out, or the exception thrown.
  T take() {
    if (!has_value_) [[unlikely]]
      std::rethrow_exception(std::move(failure_));
    return std::move(value_);
  }
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

 private:
  static_assert(alignof(T) <= alignof(std::max_align_t), "return an over-aligned type through a pointer");
  union {
    T value_;
  };
  std::exception_ptr failure_;
  bool has_value_ = false;
};

template <class T>
class task_result<T&> {
 public:
  void return_value(T& value) noexcept { value_ = &value; }
  void unhandled_exception() noexcept { failure_ = std::current_exception(); }
  T& take() {
    if (value_ == nullptr) [[unlikely]]
      std::rethrow_exception(std::move(failure_));
    return *value_;
  }
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

 private:
  T* value_ = nullptr;
  std::exception_ptr failure_;
};

template <>
class task_result<void> {
 public:
  void return_void() noexcept {}
  void unhandled_exception() noexcept { failure_ = std::current_exception(); }
  void take() {
    if (failure_) [[unlikely]]
      std::rethrow_exception(std::move(failure_));
  }
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

 private:
  std::exception_ptr failure_;
};

}  // namespace gyre
