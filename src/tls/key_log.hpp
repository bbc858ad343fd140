// src/tls/key_log.hpp: passes on the secrets of connections, to the file that SSLKEYLOGFILE names and for the kernel.
#pragma once

#include "openssl.hpp"

namespace gyre::tls {

/// The file is for debugging with a packet analyser. Its first use says on standard error that the connections can be
/// read. A server's connection keeps the secret of its sending half, if the kernel can encrypt.
/// Errors: std::invalid_argument, see kernel_encryption().
void observe_secrets(SSL_CTX& settings, bool server);

}  // namespace gyre::tls
