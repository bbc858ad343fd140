// src/tls/key_log.hpp: writes the keys of connections to the file that SSLKEYLOGFILE names.
#pragma once

#include "openssl.hpp"

namespace gyre::tls {

/// For debugging with a packet analyser. No-op without the variable. The first use says on standard error that the
/// connections can be read.
void log_keys_if_asked(SSL_CTX& settings);

}  // namespace gyre::tls
