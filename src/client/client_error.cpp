// src/client/client_error.cpp: the sentences of the errors.
#include <gyre/client/client_error.hpp>

#include <gyre/io/printable.hpp>

#include <string>

namespace gyre::http {
namespace {

struct error_sentence {
  client_errc code;
  const char* text;
};
constexpr error_sentence sentences[] = {
    {client_errc::no_response, "the server closed the connection before it answered"},
    {client_errc::cut_off, "the connection ended within the response"},
    {client_errc::bad_response, "the response is malformed"},
    {client_errc::body_too_large, "the body of the response is larger than the limit"},
    {client_errc::too_many_interim, "the server sends too many interim responses"},
    {client_errc::unexpected_switch, "the server switches to a protocol that was not asked for"},
    {client_errc::wrong_body_length, "the body of the request does not have the length that was announced"},
    {client_errc::no_repeatable_body, "the request must be sent again, but its body cannot be read twice"},
    {client_errc::too_many_redirects, "too many redirects"},
    {client_errc::bad_redirect, "the redirect is refused"},
    {client_errc::bad_coding, "the body of the response cannot be decompressed"},
    {client_errc::decompression_limit, "the decompressed body of the response is beyond the limit"},
    {client_errc::proxy_refused, "the proxy refused the connection"},
    {client_errc::client_closed, "the client was closed"},
    {client_errc::circuit_open, "the server has failed too often, so no request is sent to it for a while"},
};

const char* sentence_of(client_errc code) noexcept {
  for (const error_sentence& each : sentences)
    if (each.code == code) return each.text;
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
