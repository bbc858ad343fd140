// src/tls/traffic_secret.cpp: RFC 8446 §7.3, and the proof by a record.
#include "traffic_secret.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

namespace gyre::tls {
namespace {

constexpr std::size_t header_size = 5;  // of a record
constexpr std::size_t tag_size = 16;

struct cipher_kind {
  kernel_cipher::algorithm with;
  const EVP_CIPHER* cipher;
  const EVP_MD* hash;
};

std::optional<cipher_kind> kind_of(const SSL& connection) noexcept {
  if (SSL_version(&connection) != TLS1_3_VERSION) return std::nullopt;
  using enum kernel_cipher::algorithm;
  switch (SSL_CIPHER_get_id(SSL_get_current_cipher(&connection))) {
    case TLS1_3_CK_AES_128_GCM_SHA256:
      return cipher_kind{aes_128_gcm, EVP_aes_128_gcm(), EVP_sha256()};
    case TLS1_3_CK_AES_256_GCM_SHA384:
      return cipher_kind{aes_256_gcm, EVP_aes_256_gcm(), EVP_sha384()};
    case TLS1_3_CK_CHACHA20_POLY1305_SHA256:
      return cipher_kind{chacha20_poly1305, EVP_chacha20_poly1305(), EVP_sha256()};
    default:
      return std::nullopt;
  }
}

// HKDF-Expand-Label with an empty context. One round is enough, because no key is longer than a hash.
bool expand(const EVP_MD* hash, std::span<const unsigned char> secret, std::string_view label,
            std::span<unsigned char> key) noexcept {
  std::array<unsigned char, 32> text{};
  std::size_t size = 0;
  text[size++] = 0;
  text[size++] = static_cast<unsigned char>(key.size());
  text[size++] = static_cast<unsigned char>(label.size());
  for (const char each : label) text[size++] = static_cast<unsigned char>(each);
  text[size++] = 0;  // the size of the context
  text[size++] = 1;  // the number of the round
  std::array<unsigned char, EVP_MAX_MD_SIZE> made{};
  unsigned made_size = 0;
  const bool done = HMAC(hash, secret.data(), static_cast<int>(secret.size()), text.data(), size, made.data(),
                         &made_size) != nullptr &&
                    made_size >= key.size();
  if (done) std::copy_n(made.begin(), key.size(), key.begin());
  OPENSSL_cleanse(made.data(), made.size());
  return done;
}

std::string_view last_of(std::string_view records) noexcept {
  while (records.size() >= header_size) {
    const auto high = static_cast<unsigned char>(records[3]);
    const auto low = static_cast<unsigned char>(records[4]);
    const std::size_t size = header_size + static_cast<std::size_t>(high << 8U | low);
    if (size == records.size()) return records;
    if (size > records.size()) break;
    records.remove_prefix(size);
  }
  return {};
}

void free_cipher(EVP_CIPHER_CTX* context) noexcept { EVP_CIPHER_CTX_free(context); }

// RFC 8446 §5.2: the header is authenticated too. §5.3: the number of the record changes the initialization vector.
bool opens(const EVP_CIPHER* cipher, const kernel_cipher& keys, std::uint64_t number,
           std::string_view record) noexcept {
  if (record.size() <= header_size + tag_size) return false;
  std::array<unsigned char, 12> nonce = keys.iv;
  for (std::size_t i = 0; i < 8; ++i) nonce[nonce.size() - 1 - i] ^= static_cast<unsigned char>(number >> (8 * i));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(record.data());
  const std::size_t size = record.size() - header_size - tag_size;
  std::array<unsigned char, tag_size> tag{};
  std::copy_n(bytes + header_size + size, tag_size, tag.begin());
  const owned<EVP_CIPHER_CTX*, &free_cipher> context(EVP_CIPHER_CTX_new());
  EVP_CIPHER_CTX* const c = context.get();
  if (c == nullptr || EVP_DecryptInit_ex(c, cipher, nullptr, keys.key.data(), nonce.data()) != 1) return false;
  int count = 0;
  if (EVP_DecryptUpdate(c, nullptr, &count, bytes, header_size) != 1) return false;
  std::array<unsigned char, 1024> plain{};  // the bytes themselves are known
  for (std::size_t done = 0; done < size;) {
    const std::size_t piece = std::min(plain.size(), size - done);
    if (EVP_DecryptUpdate(c, plain.data(), &count, bytes + header_size + done, static_cast<int>(piece)) != 1)
      return false;
    done += piece;
  }
  return EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, tag_size, tag.data()) == 1 &&
         EVP_DecryptFinal_ex(c, plain.data(), &count) == 1;
}

}  // namespace

void traffic_secret::take_from(std::string_view line) noexcept {
  constexpr std::string_view name = "SERVER_TRAFFIC_SECRET_0 ";
  if (!line.starts_with(name)) return;
  const std::string_view hex = line.substr(line.rfind(' ') + 1);
  forget();
  if (hex.size() % 2 != 0 || hex.size() / 2 > secret_.size()) return;
  for (std::size_t i = 0; i < hex.size() / 2; ++i) {
    const char* const digits = hex.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, secret_[i], 16).ptr != digits + 2) return;
  }
  size_ = static_cast<std::uint8_t>(hex.size() / 2);
}

void traffic_secret::forget() noexcept {
  OPENSSL_cleanse(secret_.data(), secret_.size());
  size_ = 0;
}

kernel_cipher traffic_secret::keys(const SSL& connection) const noexcept {
  const std::optional<cipher_kind> kind = kind_of(connection);
  if (!kind || size_ != EVP_MD_get_size(kind->hash)) return {};
  const std::span secret = std::span(secret_).first(size_);
  kernel_cipher made{.with = kind->with, .record = records_};
  const std::span key = std::span(made.key).first(static_cast<std::size_t>(EVP_CIPHER_get_key_length(kind->cipher)));
  if (!expand(kind->hash, secret, "tls13 key", key) || !expand(kind->hash, secret, "tls13 iv", made.iv)) return {};
  return made;
}

bool traffic_secret::is_proven_by(std::string_view records, const SSL& connection) const noexcept {
  kernel_cipher cipher = keys(connection);
  const bool proven = cipher.with != kernel_cipher::algorithm::none && records_ > 0 &&
                      opens(kind_of(connection)->cipher, cipher, records_ - 1, last_of(records));
  OPENSSL_cleanse(cipher.key.data(), cipher.key.size());
  return proven;
}

}  // namespace gyre::tls
