// gyre/tls/certificate.hpp: a certificate chain with its private key.
#pragma once

#include <gyre/attributes.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace gyre::tls {

/// PEM texts. The chain begins with the certificate of the server or client itself.
/// Thread: a plain value.
struct GYRE_API certificate {
  std::string chain;
  std::string key;
  /// The proof of the authority that the certificate is not revoked (a DER-encoded OCSP response), which a server sends
  /// to clients that ask for it. Empty for none.
  std::string ocsp_response = {};

  /// Reads two files of at most 1 MB each. They are read at once, on this thread: load certificates before the server
  /// starts, or with to_thread. A pipe has 10 s for its content. A disk that does not answer is waited for.
  /// Errors: tls_error bad_configuration, with the name of the file.
  static certificate from_files(const std::string& chain_file, const std::string& key_file);

  /// A new key (ECDSA P-256), and a certificate for these host names and IP addresses that is valid from now on for
  /// `days`. Nobody trusts it unless told to: for tests and development.
  /// A negative number of days makes one that has expired.
  /// Errors: tls_error bad_configuration, when there is no name, or `days` is more than a century.
  static certificate self_signed(const std::vector<std::string>& names, int days = 30);

  /// The first second in which the first certificate is valid, and the last one. Errors: tls_error bad_configuration.
  [[nodiscard]] std::chrono::sys_seconds valid_from() const;
  [[nodiscard]] std::chrono::sys_seconds valid_until() const;

  /// The SHA-256 of the first certificate, as "AB:CD:…". Errors: tls_error bad_configuration.
  [[nodiscard]] std::string fingerprint() const;
};

}  // namespace gyre::tls
