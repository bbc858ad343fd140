// tests/tls/configuration_test.cpp: certificates, keys and options that cannot be used.
#include "tests/tls/tls_pair.hpp"

#include <string>

using namespace gyre_test;

TEST(tls_configuration, a_configuration_with_times_that_have_no_meaning_is_refused) {
  auto server = server_with_certificate();
  server.handshake_limit = -1ns;
  EXPECT_THROW(tls::server_config{server}, tls::tls_error);
  server = server_with_certificate();
  server.session_lifetime = -1s;
  EXPECT_THROW(tls::server_config{server}, tls::tls_error);
  tls::client_options client;
  client.handshake_limit = -1ns;
  EXPECT_THROW(tls::client_config{client}, tls::tls_error);
  client = {};
  client.session_lifetime = -1s;
  EXPECT_THROW(tls::client_config{client}, tls::tls_error);
  EXPECT_THROW((void)tls::ticket_keys(-1s), tls::tls_error);
  EXPECT_NO_THROW((void)tls::ticket_keys(std::chrono::seconds::max()));
  for (const int days : {-40'000, 40'000})
    EXPECT_THROW((void)tls::certificate::self_signed({"a"}, days), tls::tls_error);
}

TEST(tls_configuration, a_server_without_a_certificate_or_with_the_key_of_another_is_refused) {
  EXPECT_THROW(tls::server_config({}), tls::tls_error);
  tls::server_options options;
  const auto one = tls::certificate::self_signed({"a.test"});
  const auto other = tls::certificate::self_signed({"b.test"});
  options.certificates.push_back({.chain = one.chain, .key = other.key});
  try {
    const tls::server_config refused(options);
    ADD_FAILURE();
  } catch (const tls::tls_error& error) {
    EXPECT_EQ(error.code(), tls::tls_errc::bad_configuration);
    EXPECT_EQ(std::string(error.what()), "certificate: unusable certificate, key or option: key values mismatch");
  }
  EXPECT_THROW((void)tls::certificate::from_files("/nowhere.pem", "/nowhere.key"), tls::tls_error);
  try {
    (void)tls::certificate::from_files("/tmp", "/tmp");
    ADD_FAILURE();
  } catch (const tls::tls_error& error) {
    EXPECT_NE(std::string(error.what()).find("/tmp"), std::string::npos) << error.what();
  }
  EXPECT_THROW((void)tls::certificate::self_signed({}), tls::tls_error);
  EXPECT_EQ(one.fingerprint().size(), 95U);
}

TEST(tls_configuration, a_certificate_tells_when_it_is_valid) {
  const auto now = std::chrono::system_clock::now();
  const auto made = tls::certificate::self_signed({"a.test"}, 3);
  EXPECT_LE(made.valid_from(), now - 59s);
  EXPECT_GE(made.valid_until(), now + std::chrono::days(3) - 1s);
  EXPECT_LE(made.valid_until(), std::chrono::system_clock::now() + std::chrono::days(3));
  EXPECT_THROW((void)tls::certificate().valid_until(), tls::tls_error);
}

namespace {

// The first block with the head of a text that is encrypted.
std::string with_passphrase(std::string pem) {
  const std::string head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC," + std::string(32, 'A') + "\n\n";
  return pem.insert(pem.find('\n') + 1, head);
}

// PKCS #8, as OpenSSL writes it today: openssl genpkey -aes256.
constexpr const char* encrypted_key = R"(-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAj+SfUB3vvG+gICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEESelkM36hxomyMmdvYvHA0EgZDy
Bb+MG4vU096dJrI178D28Be/BUESEjpTVKM9Spzl/g5EXrvc1gSUL8iTTy5+qiu5
zDyR73rABPCptAHCkVmVyNnJsPDJNGaV/474QOdTM7vUUbGTVL8YcThbJJ2+6RJT
sxA9Yb65r9Mm2sCgTdZUPei7wy6+lfYH50Qd9rXuaujh7g2evpjtsuAP5gSMQ7g=
-----END ENCRYPTED PRIVATE KEY-----
)";

}  // namespace

// OpenSSL asks for the pass phrase on the terminal if it is allowed to.
TEST(tls_configuration, encrypted_text_is_refused_and_nobody_is_asked_for_the_pass_phrase) {
  const tls::certificate good = certificate_of_server();
  const std::string other = tls::certificate::self_signed({"other.test"}).chain;
  const auto as_server = [](const tls::certificate& own) {
    return error_of_call([&] { (void)tls::server_config(tls::server_options{.certificates = {own}}); });
  };
  const auto trusting = [](const std::string& authorities) {
    return error_of_call([&] { (void)tls::client_config(tls::client_options{.authorities = authorities}); });
  };
  const std::string refusals[] = {
      as_server({.chain = good.chain, .key = encrypted_key}),
      as_server({.chain = good.chain, .key = with_passphrase(good.key)}),
      as_server({.chain = with_passphrase(good.chain), .key = good.key}),
      as_server({.chain = good.chain + with_passphrase(other), .key = good.key}),
      trusting(with_passphrase(other)),
      error_of_call([&] { (void)tls::certificate{.chain = with_passphrase(other), .key = ""}.fingerprint(); }),
  };
  for (const std::string& each : refusals) EXPECT_NE(each.find("encrypted with a pass phrase"), each.npos) << each;
  EXPECT_EQ(as_server({.chain = good.chain + good.key, .key = good.key}), "") << "one file for both is usual";
  EXPECT_EQ(as_server({.chain = good.chain + encrypted_key, .key = good.key}), "");
  EXPECT_NE(as_server({.chain = good.chain + "-----BEGIN CERTIFICATE-----\nnonsense\n", .key = good.key}), "")
      << "a chain that ends in the middle";
}
