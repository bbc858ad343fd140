// programs/common/system_files.cpp
#include "programs/common/system_files.hpp"

#include <nss.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

namespace programs {
namespace {

// The first that this system has, or null.
const char* file_of_authorities() noexcept {
  for (const char* const path : {
           "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Arch, Alpine
           "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora
           "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Red Hat Enterprise Linux
           "/etc/ssl/ca-bundle.pem",                             // openSUSE
           "/etc/ssl/cert.pem",                                  // Alpine without its package
       })
    if (::access(path, R_OK) == 0) return path;
  return nullptr;
}

bool environment_names_authorities() noexcept {
  return std::getenv("SSL_CERT_FILE") != nullptr || std::getenv("SSL_CERT_DIR") != nullptr;
}

}  // namespace

void adapt_to_system() noexcept {
#ifdef GYRE_STATIC
  ::__nss_configure_lookup("hosts", "files dns");
  if (const char* const found = file_of_authorities(); found != nullptr && !environment_names_authorities())
    ::setenv("SSL_CERT_FILE", found, 0);
#endif
}

bool system_has_authorities() noexcept { return environment_names_authorities() || file_of_authorities() != nullptr; }

}  // namespace programs
