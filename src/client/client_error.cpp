// src/client/client_error.cpp: the sentences of the errors.
#include <gyre/client/client_error.hpp>

#include <gyre/io/printable.hpp>

#include <string>

namespace gyre::http {
namespace {

const char* sentence_of(client_errc code) noexcept {
  switch (code) {
    case client_errc::no_response:
      return "the server closed the connection before it answered";
    case client_errc::cut_off:
      return "the connection ended within the response";
    case client_errc::bad_response:
      return "the response is malformed";
    case client_errc::body_too_large:
      return "the body of the response is larger than the limit";
    case client_errc::too_many_interim:
      return "the server sends too many interim responses";
    case client_errc::unexpected_switch:
      return "the server switches to a protocol that was not asked for";
    case client_errc::wrong_body_length:
      return "the body of the request does not have the length that was announced";
    case client_errc::unsupported_scheme:
      return "the scheme of the URL is not http or https";
    case client_errc::no_repeatable_body:
      return "the request must be sent again, but its body cannot be read twice";
    case client_errc::too_many_redirects:
      return "too many redirects";
    case client_errc::bad_redirect:
      return "the redirect is refused";
    case client_errc::bad_coding:
      return "the body of the response cannot be decompressed";
    case client_errc::decompression_limit:
      return "the decompressed body of the response is beyond the limit";
    case client_errc::proxy_refused:
      return "the proxy refused the connection";
    case client_errc::client_closed:
      return "the client was closed";
    case client_errc::circuit_open:
      return "the server has failed too often, so no request is sent to it for a while";
  }
  return "unknown error";
}

class category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "http client"; }
  [[nodiscard]] std::string message(int value) const override { return sentence_of(static_cast<client_errc>(value)); }
};

std::string text_of(client_errc code, std::string_view operation, std::string_view object, std::string_view reason) {
  std::string text(operation);
  text.append(" ").append(object).append(": ").append(sentence_of(code));
  if (!reason.empty()) text.append(": ").append(printable(reason));
  return text;
}

}  // namespace

const std::error_category& client_category() noexcept {
  static const category all;
  return all;
}

client_error::client_error(client_errc code, std::string_view operation, std::string_view object,
                           std::string_view reason)
    : io_error(code, operation, object), text_(text_of(code, operation, object, reason)) {}
client_error::~client_error() = default;

}  // namespace gyre::http
