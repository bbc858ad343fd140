// gyre/tls.hpp: TLS 1.2 and 1.3 over any byte stream. RFC 8446, RFC 5246. Needs the target gyre::tls and OpenSSL 3.
//
// Must not depend on: HTTP, files of the loop.
//
//   stream         an encrypted byte stream over another one
//   connect        opens an encrypted connection as a client: verifies the server
//   listener       accepts encrypted connections and serves them
//   server_config  certificates and rules of a server
//   server_sessions  encrypts the connections of an http::server
//   ticket_keys    the keys by which clients resume their sessions
//   client_config  whom a client trusts
//   certificate    a certificate chain with its key: from files, or self-signed for tests and development
//   tls_error      what a handshake or a record can fail with
#pragma once

#include <gyre/tls/certificate.hpp>
#include <gyre/tls/client_config.hpp>
#include <gyre/tls/connect.hpp>
#include <gyre/tls/listener.hpp>
#include <gyre/tls/server_config.hpp>
#include <gyre/tls/server_sessions.hpp>
#include <gyre/tls/stream.hpp>
#include <gyre/tls/ticket_keys.hpp>
#include <gyre/tls/tls_error.hpp>
