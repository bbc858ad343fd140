// src/tls/openssl.cpp: errors of OpenSSL, and objects from PEM texts.
#include "openssl.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <climits>
#include <ctime>
#include <new>

namespace gyre::tls {
namespace {

// OpenSSL may add errors of its decoders to the one of the callback.
bool queue_has(int reason) noexcept {
  return ERR_GET_REASON(ERR_peek_error()) == reason || ERR_GET_REASON(ERR_peek_last_error()) == reason;
}

std::string reason_of_bad_configuration() {
  const bool is_encrypted = queue_has(PEM_R_BAD_PASSWORD_READ);
  const bool is_other_format = queue_has(PEM_R_NO_START_LINE);
  std::string reason = take_openssl_error();
  if (is_encrypted)
    return "it is encrypted with a pass phrase, which nobody is asked for; decrypt it: openssl pkey -in FILE -out NEW";
  return is_other_format ? "expected PEM text" : reason;
}

}  // namespace

int no_passphrase(char* /*buffer*/, int /*size*/, int /*rwflag*/, void* /*data*/) noexcept { return -1; }

std::string take_openssl_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return {};
  const char* const reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "error " + std::to_string(code) + " of OpenSSL";
}

void throw_bad_configuration(std::string_view operation, std::string_view object) {
  throw tls_error(tls_errc::bad_configuration, operation, object, reason_of_bad_configuration());
}

bio_owner reader_of(std::string_view text) {
  if (text.size() > INT_MAX) throw std::bad_alloc();
  bio_owner reader(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (!reader) throw std::bad_alloc();
  return reader;
}

x509_owner first_certificate(std::string_view pem) {
  ERR_clear_error();
  const bio_owner reader = reader_of(pem);
  x509_owner found(PEM_read_bio_X509(reader.get(), nullptr, &no_passphrase, nullptr));
  if (!found) throw_bad_configuration("certificate", "");
  return found;
}

key_owner private_key(std::string_view pem) {
  ERR_clear_error();
  const bio_owner reader = reader_of(pem);
  key_owner found(PEM_read_bio_PrivateKey(reader.get(), nullptr, &no_passphrase, nullptr));
  if (!found) throw_bad_configuration("private key", "");
  return found;
}

std::optional<std::int64_t> seconds_of(const ASN1_TIME* time) noexcept {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  const std::chrono::year_month_day day(std::chrono::year(parts.tm_year + 1900),
                                        std::chrono::month(static_cast<unsigned>(parts.tm_mon + 1)),
                                        std::chrono::day(static_cast<unsigned>(parts.tm_mday)));
  const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  return ((days * 24 + parts.tm_hour) * 60 + parts.tm_min) * 60 + parts.tm_sec;
}

bool is_ip_address(const std::string& host) noexcept {
  ASN1_OCTET_STRING* const parsed = a2i_IPADDRESS(host.c_str());
  ASN1_OCTET_STRING_free(parsed);
  return parsed != nullptr;
}

}  // namespace gyre::tls
