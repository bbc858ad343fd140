// gyre/io/kernel_scope.hpp: another kernel for the code of a thread. For authors of backends.
#pragma once

#include <gyre/attributes.hpp>

namespace gyre::io {

struct kernel;

/// While it exists, kernel::here() of this thread is another one. Scopes end in the opposite order of their beginning.
class GYRE_API kernel_scope {
 public:
  explicit kernel_scope(const kernel& used) noexcept;
  kernel_scope& operator=(kernel_scope&&) = delete;
  ~kernel_scope();

 private:
  const kernel* before_;
};

}  // namespace gyre::io
