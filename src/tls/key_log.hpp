// src/tls/key_log.hpp: who learns the secrets of connections: the file that SSLKEYLOGFILE names, and the kernel.
#pragma once

#include "openssl.hpp"

namespace gyre::tls {

/// The file is for debugging with a packet analyser. Its first use says on standard error that the connections can be
/// read. A server's connection keeps the secret of what it sends, if the kernel can encrypt.
void log_keys_if_asked(SSL_CTX& settings, bool server);

}  // namespace gyre::tls
