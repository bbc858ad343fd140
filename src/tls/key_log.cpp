// src/tls/key_log.cpp: the key log of the process, and the secrets for the kernel.
#include "key_log.hpp"

#include "engine.hpp"

#include <gyre/io/kernel.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/net/kernel_encryption.hpp>

#include <fcntl.h>

#include <cstdlib>
#include <mutex>
#include <string>

namespace gyre::tls {
namespace {

// Opened once, never closed. A line is one write, so that processes can share the file.
int key_log_file() {
  static const int file = [] {
    const char* const path = ::secure_getenv("SSLKEYLOGFILE");
    if (path == nullptr || *path == '\0') return -1;
    const int opened = io::files().openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (opened >= 0)
      print_diagnostic({"gyre: TLS keys are written to ", path, " (SSLKEYLOGFILE): whoever reads it can decrypt all"});
    else
      print_diagnostic({"gyre: ", path, " cannot be opened (SSLKEYLOGFILE): no TLS keys are written"});
    return opened;
  }();
  return file;
}

void write_line(const SSL* /*connection*/, const char* line) noexcept {
  try {
    const std::string text = std::string(line) + '\n';
    (void)!io::files().write(key_log_file(), text.data(), text.size());
  } catch (...) {  // no memory: it is only for debugging
  }
}

void tell_all(const SSL* connection, const char* line) noexcept {
  if (key_log_file() >= 0) write_line(connection, line);
  engine::note_secret(*connection, line);
}

}  // namespace

void observe_secrets(SSL_CTX& settings, bool server) {
  const bool for_kernel = server && kernel_encryption().used;
  if (for_kernel)
    SSL_CTX_set_keylog_callback(&settings, &tell_all);
  else if (key_log_file() >= 0)
    SSL_CTX_set_keylog_callback(&settings, &write_line);
}

}  // namespace gyre::tls
