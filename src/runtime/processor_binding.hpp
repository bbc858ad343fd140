// src/runtime/processor_binding.hpp: binds threads to processors.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace gyre {

/// The processors of the thread that made it, and the binding of threads to single ones of them.
class processor_binding {
 public:
  /// Reads the processors of the calling thread. Errors: std::system_error.
  processor_binding();

  /// Binds the calling thread to processor `number`, modulo their count. Errors: std::system_error.
  void bind(std::size_t number) const;
  /// The calling thread may run on all of them again.
  void unbind() const noexcept;

 private:
  static constexpr std::size_t max_processors = 8192;  // the most that Linux supports
  using mask = std::array<unsigned long, max_processors / (8 * sizeof(unsigned long))>;

  mask all_{};
  std::vector<std::size_t> processors_;
};

}  // namespace gyre
