// src/tls/tls_error.cpp: the texts of TLS errors.
#include <gyre/tls/tls_error.hpp>

#include <string>

namespace gyre::tls {
namespace {

class category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "tls"; }
  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<tls_errc>(value)) {
      case tls_errc::handshake_failed:
        return "handshake failed";
      case tls_errc::certificate_rejected:
        return "the peer's certificate is not accepted";
      case tls_errc::peer_rejected:
        return "the peer does not accept this side's certificate, or wants one";
      case tls_errc::truncated:
        return "the connection ended without close_notify, so data may be missing";
      case tls_errc::bad_record:
        return "the peer has violated the protocol";
      case tls_errc::bad_configuration:
        return "unusable certificate, key or option";
    }
    return "unknown error";
  }
};

std::string text_of(tls_errc code, std::string_view operation, std::string_view object, std::string_view reason) {
  std::string text(operation);
  if (!object.empty()) (text += ' ') += object;
  (text += ": ") += make_error_code(code).message();
  if (!reason.empty()) (text += ": ") += reason;
  return text;
}

}  // namespace

const std::error_category& tls_category() noexcept {
  static const category instance;
  return instance;
}

tls_error::tls_error(tls_errc code, std::string_view operation, std::string_view object, std::string_view reason)
    : io_error(code, operation, object), text_(text_of(code, operation, object, reason)) {}
tls_error::~tls_error() = default;

}  // namespace gyre::tls
