// gyre/coro/scope_exit.hpp: runs a function at the end of a block, or counts the block. For authors of operations.
#pragma once

namespace gyre {

/// Calls `function()` when the block ends, also by an exception. The function must not throw.
template <class F>
class scope_exit {
 public:
  explicit scope_exit(F function) noexcept : function_(function) {}
  scope_exit& operator=(scope_exit&&) = delete;
  ~scope_exit() { function_(); }

 private:
  F function_;
};

/// Adds one to `count` until the block ends. Lifetime: `count` must outlive it.
template <class Number>
class scope_count {
 public:
  explicit scope_count(Number& count) noexcept : count_(count) { ++count_; }
  scope_count& operator=(scope_count&&) = delete;
  ~scope_count() { --count_; }

 private:
  Number& count_;
};

}  // namespace gyre
