// src/tls/certificate.cpp: reads certificates, and makes self-signed ones.
#include <gyre/tls/certificate.hpp>

#include <gyre/io/file_bytes.hpp>

#include "openssl.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace gyre::tls {
namespace {

std::string content_of(const std::string& file) {
  constexpr std::size_t max_size = 1'000'000;
  std::string text;
  const int error = io::read_small_file(file, max_size, text);
  if (error == 0 && !text.empty()) return text;
  throw tls_error(tls_errc::bad_configuration, "certificate::from_files", file,
                  error == 0 ? "the file is empty, or a pipe that nobody writes to"
                             : std::error_code(-error, std::generic_category()).message());
}

template <class Write>
std::string pem_of(Write write) {
  const bio_owner memory(BIO_new(BIO_s_mem()));
  if (!memory || write(memory.get()) != 1) throw_bad_configuration("certificate::self_signed", "");
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

void add_extension(X509& to, int kind, const std::string& value) {
  X509V3_CTX with;
  X509V3_set_ctx_nodb(&with);
  X509V3_set_ctx(&with, &to, &to, nullptr, nullptr, 0);
  X509_EXTENSION* const made = X509V3_EXT_conf_nid(nullptr, &with, kind, value.c_str());
  if (made == nullptr || X509_add_ext(&to, made, -1) != 1) {
    X509_EXTENSION_free(made);
    throw_bad_configuration("certificate::self_signed", value);
  }
  X509_EXTENSION_free(made);
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& each : names) {
    if (each.find_first_of(",:\n") != std::string::npos && !is_ip_address(each))
      throw tls_error(tls_errc::bad_configuration, "certificate::self_signed", each, "not a host name");
    if (!all.empty()) all += ',';
    (all += is_ip_address(each) ? "IP:" : "DNS:") += each;
  }
  return all;
}

std::chrono::sys_seconds time_of(const ASN1_TIME* text) {
  const std::optional<std::int64_t> seconds = seconds_of(text);
  if (!seconds) throw_bad_configuration("certificate", "");
  return std::chrono::sys_seconds(std::chrono::seconds(*seconds));
}

}  // namespace

certificate certificate::from_files(const std::string& chain_file, const std::string& key_file) {
  return {.chain = content_of(chain_file), .key = content_of(key_file)};
}

certificate certificate::self_signed(const std::vector<std::string>& names, int days) {
  if (names.empty()) throw tls_error(tls_errc::bad_configuration, "certificate::self_signed", "", "no name was given");
  constexpr int century = 36'525;
  if (days < -century || days > century)
    throw tls_error(tls_errc::bad_configuration, "certificate::self_signed", "",
                    "days is " + std::to_string(days) + ", which is more than a century");
  ERR_clear_error();
  const key_owner key(EVP_EC_gen("P-256"));
  const x509_owner made(X509_new());
  if (!key || !made) throw_bad_configuration("certificate::self_signed", names.front());
  std::array<unsigned char, 16> serial{};
  if (RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1)
    throw_bad_configuration("certificate::self_signed", names.front());
  serial[0] = static_cast<unsigned char>((serial[0] & 0x7fU) | 0x40U);  // a positive number of full length
  BIGNUM* const number = BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(made.get()));
  BN_free(number);
  X509_set_version(made.get(), X509_VERSION_3);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);  // clocks differ a little
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 60L * 60 * 24 * days);
  X509_NAME* const subject = X509_get_subject_name(made.get());
  const auto* const text = reinterpret_cast<const unsigned char*>(names.front().c_str());
  X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, text, -1, -1, 0);
  X509_set_issuer_name(made.get(), subject);
  X509_set_pubkey(made.get(), key.get());
  add_extension(*made, NID_basic_constraints, "critical,CA:FALSE");  // some verifiers want no authority here
  add_extension(*made, NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(*made, NID_subject_alt_name, alternative_names(names));
  if (X509_sign(made.get(), key.get(), EVP_sha256()) == 0)
    throw_bad_configuration("certificate::self_signed", names.front());
  const auto write_certificate = [&](BIO* to) { return PEM_write_bio_X509(to, made.get()); };
  const auto write_key = [&](BIO* to) {
    return PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  };
  return {.chain = pem_of(write_certificate), .key = pem_of(write_key)};
}

std::chrono::sys_seconds certificate::valid_from() const {
  const x509_owner own = first_certificate(chain);
  return time_of(X509_get0_notBefore(own.get()));
}
std::chrono::sys_seconds certificate::valid_until() const {
  const x509_owner own = first_certificate(chain);
  return time_of(X509_get0_notAfter(own.get()));
}

std::string certificate::fingerprint() const {
  const x509_owner own = first_certificate(chain);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (X509_digest(own.get(), EVP_sha256(), digest.data(), &size) != 1)
    throw_bad_configuration("certificate::fingerprint", "");
  constexpr const char* digits = "0123456789ABCDEF";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    if (i > 0) text += ':';
    text += digits[digest.at(i) >> 4U];
    text += digits[digest.at(i) & 15U];
  }
  return text;
}

}  // namespace gyre::tls
