// tests/tls/session_age_test.cpp: sessions end with the certificates that were verified, and a day after the handshake.
#include "tests/tls/tls_pair.hpp"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>

using namespace gyre_test;

namespace {

/// How far the clock of the library and of OpenSSL is ahead.
std::atomic<std::time_t> ahead{0};

/// A clock that can be put forward.
class clock_ahead {
 public:
  clock_ahead() noexcept = default;
  clock_ahead& operator=(clock_ahead&&) = delete;
  ~clock_ahead() { ahead = 0; }
  void pass(std::chrono::seconds time) noexcept { ahead += time.count(); }
};

/// Connects. Returns "anew" or "resumed", or the error of one of the two.
gyre::task<std::string> outcome(const tls::server_config& servers, const tls::client_config& clients) {
  try {
    const tls_pair pair = co_await shake_hands_for_a_ticket(servers, clients);
    if (pair.client.resumed() != pair.server.resumed()) co_return "only one side has resumed";
    co_return pair.client.resumed() ? "resumed" : "anew";
  } catch (const std::exception& error) {
    co_return error.what();
  }
}

constexpr auto for_ever = std::chrono::hours(100'000);

/// Each ticket is used within the two hours for which OpenSSL keeps it.
gyre::task<> resume_for_23_hours(const tls::server_config& servers, const tls::client_config& clients,
                                 clock_ahead& clock) {
  for (int i = 0; i < 14; ++i) {
    clock.pass(100min);
    EXPECT_EQ(co_await outcome(servers, clients), "resumed");
  }
}

/// Two sides without limits of their own resume for as long as what was verified is good, which is a day. Then the
/// handshake fails for `reason`.
gyre::task<> expect_end_after_a_day(tls::server_options server, tls::client_options client, std::string reason) {
  server.session_lifetime = for_ever;
  client.session_lifetime = for_ever;
  const tls::server_config servers(server);
  const tls::client_config clients(client);
  EXPECT_EQ(co_await outcome(servers, clients), "anew");
  clock_ahead clock;
  co_await resume_for_23_hours(servers, clients, clock);
  clock.pass(100min);
  const std::string failure = co_await outcome(servers, clients);
  EXPECT_NE(failure.find(reason), std::string::npos) << failure;
}

/// A list of an authority, without an entry, that is good for so long.
std::string empty_list(const tls::certificate& authority, std::chrono::seconds good_for) {
  const auto read = [](const std::string& pem) { return BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())); };
  const std::unique_ptr<BIO, int (*)(BIO*)> chain(read(authority.chain), &BIO_free);
  const std::unique_ptr<BIO, int (*)(BIO*)> secret(read(authority.key), &BIO_free);
  const std::unique_ptr<BIO, int (*)(BIO*)> text(BIO_new(BIO_s_mem()), &BIO_free);
  const std::unique_ptr<X509, void (*)(X509*)> issuer(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr),
                                                      &X509_free);
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(
      PEM_read_bio_PrivateKey(secret.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  const std::unique_ptr<X509_CRL, void (*)(X509_CRL*)> list(X509_CRL_new(), &X509_CRL_free);
  const std::unique_ptr<ASN1_TIME, void (*)(ASN1_TIME*)> begin(X509_gmtime_adj(nullptr, -60), &ASN1_TIME_free);
  const std::unique_ptr<ASN1_TIME, void (*)(ASN1_TIME*)> end(
      X509_gmtime_adj(nullptr, static_cast<long>(good_for.count())), &ASN1_TIME_free);
  X509_CRL_set_version(list.get(), 1);
  X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(issuer.get()));
  X509_CRL_set1_lastUpdate(list.get(), begin.get());
  X509_CRL_set1_nextUpdate(list.get(), end.get());
  EXPECT_GT(X509_CRL_sign(list.get(), key.get(), EVP_sha256()), 0);
  EXPECT_EQ(PEM_write_bio_X509_CRL(text.get(), list.get()), 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

// Replaces the function of the C library for the library, for OpenSSL and for this test.
extern "C" std::time_t time(std::time_t* to) noexcept {
  timespec now{};
  ::syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  const std::time_t found = now.tv_sec + ahead;
  if (to != nullptr) *to = found;
  return found;
}

TEST(tls_session_age, a_session_ends_a_day_after_its_full_handshake_although_its_tickets_are_renewed) {
  run_tls([]() -> gyre::task<> {
    for (const bool server_is_patient : {false, true}) {
      auto server = server_with_certificate();
      auto client = client_that_trusts();
      (server_is_patient ? server.session_lifetime : client.session_lifetime) = for_ever;
      const tls::server_config servers(server);
      const tls::client_config clients(client);
      EXPECT_EQ(co_await outcome(servers, clients), "anew");
      clock_ahead clock;
      co_await resume_for_23_hours(servers, clients, clock);
      clock.pass(100min);
      EXPECT_EQ(co_await outcome(servers, clients), "anew");
      EXPECT_EQ(co_await outcome(servers, clients), "resumed");
    }
  });
}

TEST(tls_session_age, no_session_is_resumed_with_a_lifetime_of_0) {
  run_tls([]() -> gyre::task<> {
    auto server = server_with_certificate();
    server.session_lifetime = 0s;
    const tls::server_config servers(server);
    const tls::client_config clients(client_that_trusts());
    EXPECT_EQ(co_await outcome(servers, clients), "anew");
    EXPECT_EQ(co_await outcome(servers, clients), "anew");
  });
}

TEST(tls_session_age, a_session_ends_with_the_certificate_of_the_server) {
  run_tls([]() -> gyre::task<> {
    const auto short_lived = tls::certificate::self_signed({"server.test"}, 1);
    tls::server_options server;
    server.certificates.push_back(short_lived);
    tls::client_options client;
    client.authorities = short_lived.chain;
    co_await expect_end_after_a_day(server, client, "certificate has expired");
  });
}

TEST(tls_session_age, a_session_ends_with_the_certificate_of_the_client) {
  run_tls([]() -> gyre::task<> {
    const auto short_lived = tls::certificate::self_signed({"client 7"}, 1);
    auto server = server_with_certificate();
    server.clients = tls::client_certificates::required;
    server.client_authorities = short_lived.chain;
    auto client = client_that_trusts();
    client.identity = short_lived;
    co_await expect_end_after_a_day(server, client, "certificate has expired");
  });
}

TEST(tls_session_age, a_session_ends_with_the_list_of_revoked_certificates) {
  run_tls([]() -> gyre::task<> {
    auto client = client_that_trusts();
    client.authorities += empty_list(certificate_of_server(), 24h);
    co_await expect_end_after_a_day(server_with_certificate(), client, "CRL has expired");
  });
}
