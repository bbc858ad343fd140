// src/tls/cipher_io.hpp: where OpenSSL reads and writes encrypted bytes.
#pragma once

#include "openssl.hpp"

#include <gyre/io/buffer_lease.hpp>

#include <string>

namespace gyre::tls {

/// During its life, OpenSSL reads from `in` and appends to `out` on this thread, for whichever connection it is called.
/// So a connection needs no buffers of its own, and nothing is copied once more. No await may come in between.
class cipher_io {
 public:
  /// `ended` means that nothing comes after `in`.
  cipher_io(buffer_lease& in, bool ended, std::string& out) noexcept;
  cipher_io& operator=(cipher_io&&) = delete;
  ~cipher_io();

  /// Makes a connection use it. All connections of a thread share one BIO.
  static void attach(SSL& connection);

 private:
  friend struct cipher_bio;
  buffer_lease* in_;
  bool ended_;
  std::string* out_;
};

}  // namespace gyre::tls
