// tests/tls/handshake_test.cpp: what both sides of a handshake agree upon, and what they refuse.
#include "tests/tls/tls_pair.hpp"

#include <array>

using namespace gyre_test;

TEST(tls_handshake, both_sides_agree_on_the_newest_version_the_protocol_and_the_name) {
  run_tls([]() -> gyre::task<> {
    auto server = server_with_certificate();
    server.protocols = {"h2", "http/1.1"};
    auto client = client_that_trusts();
    client.protocols = {"http/1.1", "h2"};
    const tls_pair pair = co_await shake_hands(server, client);
    EXPECT_EQ(pair.client.protocol_version(), tls::version::tls_1_3);
    EXPECT_EQ(pair.server.protocol(), "h2");  // the server's preference
    EXPECT_EQ(pair.client.protocol(), "h2");
    EXPECT_EQ(pair.server.server_name(), "server.test");
    EXPECT_EQ(pair.client.peer_subject(), "CN=server.test");
    EXPECT_EQ(pair.server.peer_subject(), "");
  });
}

TEST(tls_handshake, many_handshakes_at_once_let_other_tasks_run_after_every_fourth_step) {
  run_tls([]() -> gyre::task<> {
    constexpr int handshakes = 40;
    int turns = 0;
    auto others = gyre::spawn([&]() -> gyre::task<> {
      for (;; ++turns) co_await gyre::yield_turn();
    });
    auto all = [](gyre::task_group& group) -> gyre::task<> {
      for (int i = 0; i < handshakes; ++i) group.spawn(shake_hands());
      co_return;
    };
    co_await gyre::task_group::scope(all);
    others.cancel();
    co_await others.wait();
    EXPECT_GE(turns, handshakes);  // each has at least two steps on both sides
  });
}

TEST(tls_handshake, a_server_that_knows_none_of_the_protocols_refuses) {
  run_tls([]() -> gyre::task<> {
    auto server = server_with_certificate();
    server.protocols = {"h2"};
    auto client = client_that_trusts();
    client.protocols = {"http/1.1"};
    const refusals said = co_await refused(server, client);
    EXPECT_EQ(said.client, "tls handshake server.test: handshake failed: tlsv1 alert no application protocol");
    EXPECT_EQ(said.server, "tls handshake: handshake failed: no application protocol");
  });
}

TEST(tls_handshake, an_address_is_verified_as_an_address) {
  run_tls([]() -> gyre::task<> {
    const tls_pair pair = co_await shake_hands(server_with_certificate(), client_that_trusts(), "127.0.0.1");
    EXPECT_EQ(pair.server.server_name(), "");  // RFC 6066 §3
    const refusals said = co_await refused(server_with_certificate(), client_that_trusts(), "127.0.0.2");
    EXPECT_EQ(said.client, "tls handshake 127.0.0.2: the peer's certificate is not accepted: IP address mismatch");
  });
}

TEST(tls_handshake, a_certificate_for_another_name_is_refused) {
  run_tls([]() -> gyre::task<> {
    (void)co_await shake_hands(server_with_certificate(), client_that_trusts(), "a.wild.test");
    for (const char* const wrong : {"other.test", "a.b.wild.test", "wild.test", "server.test.evil"}) {
      const refusals said = co_await refused(server_with_certificate(), client_that_trusts(), wrong);
      EXPECT_EQ(said.client,
                std::string("tls handshake ") + wrong + ": the peer's certificate is not accepted: hostname mismatch");
      EXPECT_EQ(said.server.substr(0, 53), "tls handshake: the peer does not accept this side's c");
    }
  });
}

// Its only name is the common name "server.test". Good until 2126.
const tls::certificate named_by_subject{.chain =
                                            "-----BEGIN CERTIFICATE-----\n"
                                            "MIIBhDCCASmgAwIBAgIUWU0jRdFjn6O4kTUErk71oiLFYMQwCgYIKoZIzj0EAwIw\n"
                                            "FjEUMBIGA1UEAwwLc2VydmVyLnRlc3QwIBcNMjYxMTI5MDE0MjExWhgPMjEyNjEx\n"
                                            "MDUwMTQyMTFaMBYxFDASBgNVBAMMC3NlcnZlci50ZXN0MFkwEwYHKoZIzj0CAQYI\n"
                                            "KoZIzj0DAQcDQgAEM24XEK1xpsVOO5lR5CxQTJKxvpbz5PGVFPJPZDr/uOw6JB+3\n"
                                            "8u95a6pcMLPntbSU4NkbVpuuKNfYhSviYZdlZaNTMFEwHQYDVR0OBBYEFBl3n8oX\n"
                                            "CLXFDfWT2lG9zA5sxpprMB8GA1UdIwQYMBaAFBl3n8oXCLXFDfWT2lG9zA5sxppr\n"
                                            "MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhALxKZ8cvbpX8l1SN\n"
                                            "1KkDRjBD8b87oZjOtAvIuKxtrf2IAiEApYal5NnR7v8qQ5VDrvIv5oT/h4DFpQTD\n"
                                            "fmc2LCEd1Qo=\n"
                                            "-----END CERTIFICATE-----\n",
                                        .key =
                                            "-----BEGIN PRIVATE KEY-----\n"
                                            "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgyjArJVJTKlUGktg7\n"
                                            "A3lqeY4DTcb9jSGA2qpmicJa5omhRANCAAQzbhcQrXGmxU47mVHkLFBMkrG+lvPk\n"
                                            "8ZUU8k9kOv+47DokH7fy73lrqlwws+e1tJTg2RtWm64o19iFK+Jhl2Vl\n"
                                            "-----END PRIVATE KEY-----\n"};

// RFC 9110 §4.3.4.
TEST(tls_handshake, the_common_name_of_a_certificate_is_not_the_name_of_a_host) {
  run_tls([]() -> gyre::task<> {
    tls::server_options server;
    server.certificates.push_back(named_by_subject);
    tls::client_options client;
    client.authorities = named_by_subject.chain;
    const refusals said = co_await refused(server, client, "server.test");
    EXPECT_EQ(said.client, "tls handshake server.test: the peer's certificate is not accepted: hostname mismatch");
  });
}

TEST(tls_handshake, the_dot_of_an_absolute_name_is_neither_sent_nor_verified) {
  run_tls([]() -> gyre::task<> {
    const tls_pair pair = co_await shake_hands(server_with_certificate(), client_that_trusts(), "server.test.");
    EXPECT_EQ(pair.server.server_name(), "server.test");
  });
}

TEST(tls_handshake, a_text_that_is_not_the_name_of_a_host_is_refused_before_anything_is_sent) {
  run_tls([]() -> gyre::task<> {
    using namespace std::string_literals;
    const std::string names[] = {""s,
                                 "."s,
                                 ".test"s,
                                 "server.test\0.evil"s,
                                 "127.0.0.1\0.evil"s,
                                 "a..b"s,
                                 "server.test "s,
                                 "server\n.test"s,
                                 std::string(254, 'a')};
    for (const std::string& name : names) {
      const refusals said = co_await refused(server_with_certificate(), client_that_trusts(), name);
      EXPECT_TRUE(said.client.ends_with("unusable certificate, key or option: this is not the name of a host"))
          << said.client;
    }
  });
}

TEST(tls_handshake, a_certificate_that_nobody_vouches_for_is_refused) {
  run_tls([]() -> gyre::task<> {
    const tls::client_options of_the_system;
    const refusals said = co_await refused(server_with_certificate(), of_the_system);
    EXPECT_EQ(said.client,
              "tls handshake server.test: the peer's certificate is not accepted: self-signed certificate");
  });
}

TEST(tls_handshake, an_expired_certificate_is_refused) {
  run_tls([]() -> gyre::task<> {
    tls::server_options server;
    server.certificates.push_back(tls::certificate::self_signed({"server.test"}, -1));
    tls::client_options client;
    client.authorities = server.certificates.front().chain;
    const refusals said = co_await refused(server, client);
    EXPECT_EQ(said.client,
              "tls handshake server.test: the peer's certificate is not accepted: certificate has expired");
  });
}

TEST(tls_handshake, a_client_without_verification_accepts_every_certificate) {
  run_tls([]() -> gyre::task<> {
    tls::client_options client;
    client.insecure_skip_verify = true;
    const tls_pair pair = co_await shake_hands(server_with_certificate(), client, "anything.test");
    EXPECT_TRUE(pair.client);
  });
}

TEST(tls_handshake, the_server_has_the_certificate_for_the_name_that_is_asked_for) {
  run_tls([]() -> gyre::task<> {
    auto server = server_with_certificate();
    const auto second = tls::certificate::self_signed({"second.test", "*.second.test"});
    server.certificates.push_back(second);
    for (const char* const name : {"second.test", "a.second.test"}) {
      tls::client_options client;
      client.authorities = second.chain;
      const tls_pair pair = co_await shake_hands(server, client, name);
      EXPECT_EQ(pair.client.peer_subject(), "CN=second.test");
    }
    const tls_pair pair = co_await shake_hands(server, client_that_trusts());
    EXPECT_EQ(pair.client.peer_subject(), "CN=server.test");
  });
}

TEST(tls_handshake, a_server_verifies_its_clients_when_told_to) {
  run_tls([]() -> gyre::task<> {
    const auto trusted = tls::certificate::self_signed({"client 7"});
    const auto unknown = tls::certificate::self_signed({"somebody"});
    auto server = server_with_certificate();
    server.clients = tls::client_certificates::required;
    server.client_authorities = trusted.chain;
    auto client = client_that_trusts();
    const refusals without = co_await refused(server, client);
    EXPECT_EQ(without.server, "tls handshake: handshake failed: peer did not return a certificate");
    EXPECT_EQ(without.client.substr(0, 66), "read_some server.test: the peer does not accept this side's certif");
    client.identity = unknown;
    const refusals wrong = co_await refused(server, client);
    EXPECT_EQ(wrong.server, "tls handshake: the peer's certificate is not accepted: self-signed certificate");
    client.identity = trusted;
    const tls_pair pair = co_await shake_hands(server, client);
    EXPECT_EQ(pair.server.peer_subject(), "CN=client 7");
    server.clients = tls::client_certificates::optional;
    const tls_pair anonymous = co_await shake_hands(server, client_that_trusts());
    EXPECT_EQ(anonymous.server.peer_subject(), "");
  });
}

TEST(tls_handshake, a_side_that_wants_a_newer_version_refuses_an_older_one) {
  run_tls([]() -> gyre::task<> {
    const tls_pair both = co_await shake_hands();
    EXPECT_EQ(both.server.protocol_version(), tls::version::tls_1_3);
    auto server = server_with_certificate();
    server.min_version = tls::version::tls_1_3;
    const tls_pair newest = co_await shake_hands(server);
    EXPECT_EQ(newest.server.protocol_version(), tls::version::tls_1_3);
  });
}

TEST(tls_handshake, a_peer_that_says_nothing_is_given_up_after_the_limit) {
  gyre::testing::run_test([]() -> gyre::task<> {
    gyre::memory_pair ends;
    const tls::server_config config(server_with_certificate());
    const auto begin = gyre::now();
    EXPECT_THROW((void)co_await tls::accept(std::move(ends.first), config), gyre::timed_out);
    EXPECT_EQ(gyre::now() - begin, 10s);
  });
}

TEST(tls_handshake, a_peer_that_does_not_speak_tls_is_refused) {
  run_tls([]() -> gyre::task<> {
    gyre::memory_pair ends;
    co_await ends.second.write_all(std::as_bytes(std::span(std::string_view("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))));
    const tls::server_config config(server_with_certificate());
    EXPECT_EQ(co_await error_of(tls::accept(std::move(ends.first), config)),
              "tls handshake: handshake failed: the client spoke HTTP without TLS");
  });
}

TEST(tls_handshake, a_peer_that_leaves_in_the_middle_is_an_error) {
  run_tls([]() -> gyre::task<> {
    std::optional<gyre::memory_pair> ends;
    ends.emplace();
    auto first = std::move(ends->first);
    ends.reset();
    const tls::server_config config(server_with_certificate());
    EXPECT_EQ(co_await error_of(tls::accept(std::move(first), config)),
              "tls handshake: handshake failed: unexpected eof while reading");
  });
}
