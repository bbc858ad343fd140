// tests/tls/resumption_test.cpp: sessions that are resumed: by which tickets, for which peers, under which rules.
#include "tests/tls/tls_pair.hpp"

#include <string>

using namespace gyre_test;

namespace {

struct both {
  bool client;
  bool server;
  friend bool operator==(const both&, const both&) = default;
  friend std::ostream& operator<<(std::ostream& out, const both& b) {
    return out << "client " << b.client << ", server " << b.server;
  }
};
constexpr both resumed{true, true};
constexpr both anew{false, false};

/// Connects, and returns whether the session was resumed.
gyre::task<both> connect(const tls::server_config& servers, const tls::client_config& clients,
                         std::string host = "server.test") {
  const tls_pair pair = co_await shake_hands_for_a_ticket(servers, clients, std::move(host));
  co_return both{pair.client.resumed(), pair.server.resumed()};
}

std::string key_of(char letter) { return std::string(80, letter); }

}  // namespace

TEST(tls_resumption, the_second_connection_to_a_server_resumes_the_session_of_the_first) {
  run_tls([]() -> gyre::task<> {
    const tls::server_config servers(server_with_certificate());
    const tls::client_config clients(client_that_trusts());
    EXPECT_EQ(co_await connect(servers, clients), anew);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(co_await connect(servers, clients), resumed);
  });
}

TEST(tls_resumption, a_session_belongs_to_one_host_and_one_configuration) {
  run_tls([]() -> gyre::task<> {
    const tls::server_config servers(server_with_certificate());
    const tls::client_config clients(client_that_trusts());
    EXPECT_EQ(co_await connect(servers, clients), anew);
    EXPECT_EQ(co_await connect(servers, clients, "a.wild.test"), anew);
    const tls::client_config others(client_that_trusts());
    EXPECT_EQ(co_await connect(servers, others), anew);
    EXPECT_EQ(co_await connect(servers, clients), resumed);
    EXPECT_EQ(co_await connect(servers, clients, "a.wild.test"), resumed);
  });
}

TEST(tls_resumption, a_new_configuration_accepts_tickets_of_the_same_keys_only) {
  run_tls([]() -> gyre::task<> {
    auto options = server_with_certificate();
    const tls::server_config first(options);
    const tls::server_config second(options);
    const tls::server_config foreign(server_with_certificate());
    const tls::client_config clients(client_that_trusts());
    EXPECT_EQ(co_await connect(first, clients), anew);
    EXPECT_EQ(co_await connect(second, clients), resumed);
    EXPECT_EQ(co_await connect(foreign, clients), anew);
  });
}

TEST(tls_resumption, processes_share_the_keys_that_the_program_gives) {
  run_tls([]() -> gyre::task<> {
    auto options = server_with_certificate();
    options.tickets = tls::ticket_keys(std::vector{key_of('a')});
    const tls::server_config one(options);
    options.tickets = tls::ticket_keys(std::vector{key_of('b'), key_of('a')});
    const tls::server_config other(options);
    const tls::client_config clients(client_that_trusts());
    EXPECT_EQ(co_await connect(one, clients), anew);
    EXPECT_EQ(co_await connect(other, clients), resumed);  // by an older key
    options.tickets.set_keys({key_of('c')});
    EXPECT_EQ(co_await connect(other, clients), anew);
  });
}

TEST(tls_resumption, keys_of_another_size_are_refused) {
  EXPECT_THROW(tls::ticket_keys(std::vector<std::string>{}), tls::tls_error);
  EXPECT_THROW(tls::ticket_keys(std::vector{std::string(48, 'a')}), tls::tls_error);
}

TEST(tls_resumption, a_ticket_ends_with_its_key) {
  run_tls([]() -> gyre::task<> {
    auto options = server_with_certificate();
    options.tickets = tls::ticket_keys(0s);  // a key for each ticket
    const tls::server_config servers(options);
    const tls::client_config clients(client_that_trusts());
    EXPECT_EQ(co_await connect(servers, clients), anew);
    EXPECT_EQ(co_await connect(servers, clients), anew);
  });
}

// Otherwise a client without a certificate could enter by a ticket of a server that wants none.
TEST(tls_resumption, a_session_is_not_resumed_under_other_rules_for_clients) {
  run_tls([]() -> gyre::task<> {
    const auto identity = tls::certificate::self_signed({"client 7"});
    auto options = server_with_certificate();
    const tls::server_config open(options);
    options.clients = tls::client_certificates::required;
    options.client_authorities = identity.chain;
    const tls::server_config closed(options);
    const tls::client_config anonymous(client_that_trusts());
    EXPECT_EQ(co_await connect(open, anonymous), anew);
    EXPECT_THROW((void)co_await connect(closed, anonymous), std::exception);
    auto known = client_that_trusts();
    known.identity = identity;
    const tls::client_config clients(known);
    EXPECT_EQ(co_await connect(open, clients), anew);
    EXPECT_EQ(co_await connect(closed, clients), anew);
    EXPECT_EQ(co_await connect(closed, clients), resumed);
  });
}
