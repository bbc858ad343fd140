// gyre/tls/tls_error.hpp: the errors of TLS.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/io_error.hpp>

#include <string_view>
#include <system_error>

namespace gyre::tls {

enum class tls_errc : int {
  handshake_failed = 1,  ///< the peers could not agree, or the peer has sent an alert
  certificate_rejected,  ///< the peer's certificate is not trusted, or is for another name
  peer_rejected,         ///< the peer has rejected this side's certificate, or wants one
  truncated,             ///< the connection ended without close_notify: the data may be cut off. RFC 8446 §6.1
  bad_record,            ///< the peer has violated the protocol after the handshake
  bad_configuration,     ///< a certificate, key or option of this program cannot be used
};

GYRE_API const std::error_category& tls_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(tls_errc e) noexcept {
  return {static_cast<int>(e), tls_category()};
}

/// An io_error with the reason of OpenSSL: "tls handshake example.org:443: certificate rejected: self-signed
/// certificate".
class GYRE_API tls_error : public io_error {
 public:
  /// `reason` is what OpenSSL says; may be empty.
  tls_error(tls_errc code, std::string_view operation, std::string_view object, std::string_view reason);
  ~tls_error() override;
  [[nodiscard]] const char* what() const noexcept override { return text_.what(); }

 private:
  std::runtime_error text_;  // copied without an allocation
};

}  // namespace gyre::tls

template <>
struct std::is_error_code_enum<gyre::tls::tls_errc> : std::true_type {};
