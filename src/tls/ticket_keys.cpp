// src/tls/ticket_keys.cpp: makes, keeps and finds the keys of tickets.
#include "ticket_ring.hpp"

#include <gyre/io/monotonic_clock.hpp>

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace gyre::tls {
namespace {

using key = ticket_keys::ring::key;
constexpr std::size_t size_of_key = 80;
constexpr std::chrono::hours usual_lifetime(12);

key random_key() {
  key made{};
  clear_openssl_errors();
  if (RAND_bytes(made.name.data(), static_cast<int>(made.name.size())) != 1 ||
      RAND_priv_bytes(made.mac.data(), static_cast<int>(made.mac.size())) != 1 ||
      RAND_priv_bytes(made.cipher.data(), static_cast<int>(made.cipher.size())) != 1)
    throw_bad_configuration("ticket_keys", "");
  return made;
}

std::vector<key> keys_from(const std::vector<std::string>& texts) {
  if (texts.empty()) throw tls_error(tls_errc::bad_configuration, "ticket_keys", "", "no key was given");
  std::vector<key> all;
  for (const std::string& each : texts) {
    if (each.size() != size_of_key)
      throw tls_error(tls_errc::bad_configuration, "ticket_keys", "", "a key has 80 bytes: openssl rand 80");
    key made{};
    std::memcpy(made.name.data(), each.data(), made.name.size());
    std::memcpy(made.mac.data(), each.data() + 16, made.mac.size());
    std::memcpy(made.cipher.data(), each.data() + 48, made.cipher.size());
    all.push_back(made);
  }
  return all;
}

int index_of_ring() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

bool set_mac_key(EVP_MAC_CTX* mac, key& with) {
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, with.mac.data(), with.mac.size()),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
  return EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

// Not the clock of a loop: loops of several threads share the keys.
std::chrono::steady_clock::time_point now_of_keys() noexcept {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(io::monotonic_now()));
}

std::chrono::seconds checked(std::chrono::seconds lifetime) {
  constexpr std::chrono::seconds max_lifetime = std::chrono::years(100);  // its double still fits the clock
  if (lifetime < std::chrono::seconds::zero())
    throw tls_error(tls_errc::bad_configuration, "ticket_keys", "", "lifetime is negative; 0 makes a key per ticket");
  return std::min(lifetime, max_lifetime);
}

}  // namespace

ticket_keys::ring::ring(std::chrono::seconds lifetime)
    : keys_{random_key()}, lifetime_(checked(lifetime)), newest_since_(now_of_keys()) {}
ticket_keys::ring::ring(const std::vector<std::string>& keys)
    : keys_(keys_from(keys)), lifetime_(usual_lifetime), given_(true) {}
ticket_keys::ring::~ring() { OPENSSL_cleanse(keys_.data(), keys_.size() * sizeof(key)); }

void ticket_keys::ring::set(const std::vector<std::string>& keys) {
  std::vector<key> next = keys_from(keys);
  const std::lock_guard lock(mutex_);
  std::swap(keys_, next);
  OPENSSL_cleanse(next.data(), next.size() * sizeof(key));
  given_ = true;
}

// Keeps the newest key and the previous one.
void ticket_keys::ring::rotate() {
  const auto now = now_of_keys();
  if (given_ || now - newest_since_ < lifetime_) return;
  const bool last_is_old = now - newest_since_ >= 2 * lifetime_;
  if (last_is_old) {
    OPENSSL_cleanse(keys_.data(), keys_.size() * sizeof(key));
    keys_.clear();
  }
  keys_.insert(keys_.begin(), random_key());
  if (keys_.size() > 2) {
    OPENSSL_cleanse(&keys_.back(), sizeof(key));
    keys_.pop_back();
  }
  newest_since_ = now;
}

key ticket_keys::ring::newest() {
  const std::lock_guard lock(mutex_);
  rotate();
  return keys_.front();
}

std::optional<ticket_keys::ring::found> ticket_keys::ring::named(std::span<const unsigned char, 16> name) {
  const std::lock_guard lock(mutex_);
  rotate();
  for (const ring::key& each : keys_)
    if (std::equal(name.begin(), name.end(), each.name.begin())) return found{each, &each == keys_.data()};
  return std::nullopt;
}

int ticket_keys::ring::choose_key(SSL* connection, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                                  EVP_MAC_CTX* mac, int encrypts) noexcept {
  constexpr int no_ticket = 0;
  constexpr int usable = 1;
  constexpr int usable_and_to_be_renewed = 2;
  constexpr int failed = -1;
  try {
    auto& keys = *static_cast<ring*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), index_of_ring()));
    static const EVP_CIPHER* const aes = EVP_CIPHER_fetch(nullptr, "AES-256-CBC", nullptr);
    constexpr int size_of_iv = 16;
    if (encrypts == 1) {
      key with = keys.newest();
      if (RAND_bytes(iv, size_of_iv) != 1) return failed;
      std::copy(with.name.begin(), with.name.end(), name);
      const bool ready =
          EVP_EncryptInit_ex2(cipher, aes, with.cipher.data(), iv, nullptr) == 1 && set_mac_key(mac, with);
      OPENSSL_cleanse(&with, sizeof(with));
      return ready ? usable : failed;
    }
    auto with = keys.named(std::span<const unsigned char, 16>(name, 16));
    if (!with) return no_ticket;
    const bool ready =
        set_mac_key(mac, with->key) && EVP_DecryptInit_ex2(cipher, aes, with->key.cipher.data(), iv, nullptr) == 1;
    OPENSSL_cleanse(&with->key, sizeof(with->key));
    if (!ready) return failed;
    // A client of TLS 1.3 uses each ticket once, and so needs another one. RFC 8446 §C.4.
    const bool renew = !with->newest || SSL_version(connection) >= TLS1_3_VERSION;
    return renew ? usable_and_to_be_renewed : usable;
  } catch (...) {  // no memory
    return failed;
  }
}

void ticket_keys::ring::attach(SSL_CTX& settings, ring& keys) {
  if (SSL_CTX_set_ex_data(&settings, index_of_ring(), &keys) != 1) throw_bad_configuration("ticket_keys", "");
  SSL_CTX_set_tlsext_ticket_key_evp_cb(&settings, &choose_key);
  SSL_CTX_set_timeout(&settings, static_cast<long>(keys.lifetime().count()));
}

ticket_keys::ticket_keys(std::chrono::seconds lifetime) : ring_(new ring(lifetime)) {}
ticket_keys::ticket_keys(const std::vector<std::string>& keys) : ring_(new ring(keys)) {}
ticket_keys::ticket_keys(const ticket_keys& other) noexcept : ring_(other.ring_) { ring_->add_reference(); }
ticket_keys::~ticket_keys() { ring_->release(); }
void ticket_keys::set_keys(const std::vector<std::string>& keys) { ring_->set(keys); }

}  // namespace gyre::tls
