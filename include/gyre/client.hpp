// gyre/client.hpp: an HTTP/1.1 client. RFC 9110, RFC 9112. Needs the target gyre::client and OpenSSL 3.
//
// Must not depend on: programs.
//
//   url  the address of a resource
#pragma once

#include <gyre/client/url.hpp>
