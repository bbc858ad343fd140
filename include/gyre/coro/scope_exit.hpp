// gyre/coro/scope_exit.hpp: runs a function at the end of a block. For authors of operations.
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

}  // namespace gyre
