// tests/tls/traffic_secret_test.cpp: the keys for the kernel, derived from what OpenSSL tells, against OpenSSL itself.
#include "src/tls/traffic_secret.hpp"
#include "tests/tls/tls_pair.hpp"

#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <array>
#include <string>
#include <string_view>

using gyre::kernel_cipher;
using gyre::tls::traffic_secret;

namespace {

/// A server and a client of OpenSSL, joined by a pipe in memory. The secret learns what an engine's would.
class joined {
 public:
  explicit joined(const char* cipher, int version = TLS1_3_VERSION)
      : server_settings_(SSL_CTX_new(TLS_server_method())), client_settings_(SSL_CTX_new(TLS_client_method())) {
    const auto& own = gyre_test::certificate_of_server();
    const auto certificate = gyre::tls::first_certificate(own.chain);
    const auto key = gyre::tls::private_key(own.key);
    SSL_CTX* const settings = server_settings_.get();
    EXPECT_EQ(SSL_CTX_use_certificate(settings, certificate.get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(settings, key.get()), 1);
    EXPECT_EQ(SSL_CTX_set_max_proto_version(settings, version), 1);
    if (version == TLS1_3_VERSION) EXPECT_EQ(SSL_CTX_set_ciphersuites(settings, cipher), 1);
    SSL_CTX_set_keylog_callback(settings, [](const SSL* s, const char* line) { of(s).take_from(line); });
    SSL_CTX_set_msg_callback(
        settings, [](int is_sent, int, int type, const void* data, std::size_t size, SSL* s, void*) {
          if (is_sent == 0 || size == 0) return;
          if (type == SSL3_RT_HEADER) of(s).note_record();
          if (type == SSL3_RT_HANDSHAKE && *static_cast<const unsigned char*>(data) == SSL3_MT_FINISHED)
            of(s).start_counting();
        });
    server_ = gyre::tls::ssl_owner(SSL_new(settings));
    client_ = gyre::tls::ssl_owner(SSL_new(client_settings_.get()));
    SSL_set_app_data(server_.get(), &secret);
    SSL_set_bio(server_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_bio(client_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(server_.get());
    SSL_set_connect_state(client_.get());
    for (int i = 0; i < 4; ++i) {
      (void)SSL_do_handshake(client_.get());
      move(client_.get(), server_.get());
      (void)SSL_do_handshake(server_.get());
      move(server_.get(), client_.get());
    }
    EXPECT_TRUE(SSL_is_init_finished(server_.get()));
  }

  /// Returns the records.
  std::string server_writes(std::string_view text) {
    EXPECT_EQ(SSL_write(server_.get(), text.data(), static_cast<int>(text.size())), static_cast<int>(text.size()));
    return move(server_.get(), client_.get());
  }
  void server_changes_keys() {
    EXPECT_EQ(SSL_key_update(server_.get(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    secret.forget();
  }
  void arrive(std::string_view bytes) {
    BIO_write(SSL_get_rbio(client_.get()), bytes.data(), static_cast<int>(bytes.size()));
  }
  std::string client_reads() {
    std::array<char, 20'000> text{};
    const int count = SSL_read(client_.get(), text.data(), text.size());
    return count > 0 ? std::string(text.data(), static_cast<std::size_t>(count)) : std::string();
  }
  [[nodiscard]] const SSL& server() const { return *server_.get(); }

  traffic_secret secret;

 private:
  static traffic_secret& of(const SSL* s) { return *static_cast<traffic_secret*>(SSL_get_app_data(s)); }
  static std::string move(SSL* from, SSL* to) {
    std::string all;
    std::array<char, 20'000> piece{};
    for (int count = 0; (count = BIO_read(SSL_get_wbio(from), piece.data(), piece.size())) > 0;)
      all.append(piece.data(), static_cast<std::size_t>(count));
    BIO_write(SSL_get_rbio(to), all.data(), static_cast<int>(all.size()));
    return all;
  }

  gyre::tls::ssl_ctx_owner server_settings_;
  gyre::tls::ssl_ctx_owner client_settings_;
  gyre::tls::ssl_owner server_;
  gyre::tls::ssl_owner client_;
};

/// A record with application data, as the kernel makes it: RFC 8446 §5.2.
std::string sealed(const kernel_cipher& keys, std::string_view text) {
  const EVP_CIPHER* const cipher = keys.with == kernel_cipher::algorithm::aes_128_gcm   ? EVP_aes_128_gcm()
                                   : keys.with == kernel_cipher::algorithm::aes_256_gcm ? EVP_aes_256_gcm()
                                                                                        : EVP_chacha20_poly1305();
  std::array<unsigned char, 12> nonce = keys.iv;
  for (std::size_t i = 0; i < 8; ++i) nonce[11 - i] ^= static_cast<unsigned char>(keys.record >> (8 * i));
  const std::string inner = std::string(text) + '\x17';
  const std::size_t size = inner.size() + 16;
  std::string record{'\x17', '\x03', '\x03', static_cast<char>(size >> 8U), static_cast<char>(size & 0xffU)};
  record.resize(5 + size);
  auto* const bytes = reinterpret_cast<unsigned char*>(record.data());
  EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
  int count = 0;
  EVP_EncryptInit_ex(context, cipher, nullptr, keys.key.data(), nonce.data());
  EVP_EncryptUpdate(context, nullptr, &count, bytes, 5);
  EVP_EncryptUpdate(context, bytes + 5, &count, reinterpret_cast<const unsigned char*>(inner.data()),
                    static_cast<int>(inner.size()));
  EVP_EncryptFinal_ex(context, bytes + 5 + count, &count);
  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, bytes + 5 + inner.size());
  EVP_CIPHER_CTX_free(context);
  return record;
}

class traffic_secret_of : public testing::TestWithParam<const char*> {};

}  // namespace

TEST_P(traffic_secret_of, each_cipher_makes_the_next_record_that_the_client_accepts) {
  joined ends(GetParam());
  const std::string record = ends.server_writes("by OpenSSL");
  ASSERT_TRUE(ends.secret.is_proven_by(record, ends.server()));
  EXPECT_EQ(ends.client_reads(), "by OpenSSL");
  kernel_cipher keys = ends.secret.keys(ends.server());
  ends.arrive(sealed(keys, "by the kernel"));
  EXPECT_EQ(ends.client_reads(), "by the kernel");
  ++keys.record;
  ends.arrive(sealed(keys, "and again"));
  EXPECT_EQ(ends.client_reads(), "and again");
}

TEST_P(traffic_secret_of, each_cipher_is_proven_by_the_last_of_several_records) {
  joined ends(GetParam());
  const std::string first = ends.server_writes("one");
  const std::string second = ends.server_writes(std::string(16'000, 'x'));
  EXPECT_TRUE(ends.secret.is_proven_by(first + second, ends.server()));
}

INSTANTIATE_TEST_SUITE_P(ciphers, traffic_secret_of,
                         testing::Values("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                                         "TLS_CHACHA20_POLY1305_SHA256"),
                         [](const auto& each) { return std::string(each.param); });

TEST(traffic_secret, an_earlier_record_does_not_prove_a_secret) {
  joined ends("TLS_AES_128_GCM_SHA256");
  const std::string first = ends.server_writes("one");
  ends.server_writes("two");
  EXPECT_FALSE(ends.secret.is_proven_by(first, ends.server()));
}

TEST(traffic_secret, a_record_that_was_changed_does_not_prove_a_secret) {
  joined ends("TLS_AES_128_GCM_SHA256");
  const std::string record = ends.server_writes("text");
  for (std::size_t i = 0; i < record.size(); ++i) {
    std::string changed = record;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(ends.secret.is_proven_by(changed, ends.server())) << i;
  }
}

TEST(traffic_secret, a_part_of_a_record_or_nothing_does_not_prove_a_secret) {
  joined ends("TLS_AES_128_GCM_SHA256");
  const std::string record = ends.server_writes("text");
  for (std::size_t size = 0; size < record.size(); ++size)
    EXPECT_FALSE(ends.secret.is_proven_by(std::string_view(record).substr(0, size), ends.server())) << size;
}

TEST(traffic_secret, a_secret_has_no_keys_after_a_key_update) {
  joined ends("TLS_AES_128_GCM_SHA256");
  ends.server_changes_keys();
  const std::string record = ends.server_writes("text");
  EXPECT_FALSE(ends.secret.is_proven_by(record, ends.server()));
  EXPECT_EQ(ends.secret.keys(ends.server()).with, kernel_cipher::algorithm::none);
}

TEST(traffic_secret, a_secret_has_no_keys_for_tls_1_2) {
  joined ends("", TLS1_2_VERSION);
  const std::string record = ends.server_writes("text");
  EXPECT_FALSE(ends.secret.is_proven_by(record, ends.server()));
}

TEST(traffic_secret, a_secret_is_taken_only_from_the_line_of_a_servers_data) {
  for (const std::string_view line :
       {"CLIENT_TRAFFIC_SECRET_0 00 0011", "SERVER_HANDSHAKE_TRAFFIC_SECRET 00 0011", "SERVER_TRAFFIC_SECRET_0 00 001",
        "SERVER_TRAFFIC_SECRET_0 00 zz", "SERVER_TRAFFIC_SECRET_0 ", ""}) {
    joined ends("TLS_AES_128_GCM_SHA256");
    ends.secret.forget();
    ends.secret.take_from(line);
    EXPECT_EQ(ends.secret.keys(ends.server()).with, kernel_cipher::algorithm::none) << line;
  }
}
