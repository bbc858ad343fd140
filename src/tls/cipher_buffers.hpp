// src/tls/cipher_buffers.hpp: buffers for encrypted bytes on their way to the kernel.
#pragma once

#include <string>

namespace gyre::tls {

/// Buffers that are reused by all connections of a thread, so that sending allocates nothing in steady state.
class cipher_buffers {
 public:
  /// An empty buffer, given back at the end.
  class borrowed {
   public:
    borrowed() noexcept;
    borrowed& operator=(borrowed&&) = delete;
    ~borrowed();
    [[nodiscard]] std::string& operator*() noexcept { return buffer_; }

   private:
    std::string buffer_;
  };
};

}  // namespace gyre::tls
