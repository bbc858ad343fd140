// tests/contract/io_connect_test.cpp: opcode::connect, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

namespace gyre::contract {
namespace {

class io_connect : public io_contract {
 protected:
  static one_shot to(io::descriptor& d, const tcp_server& server) {
    return {io::opcode::connect, d, &server.address, sizeof(server.address)};
  }
  static one_shot to(io::descriptor& d, const unix_server& server) {
    return {io::opcode::connect, d, &server.address, server.size};
  }
  static owned_fd accept_from(const owned_fd& listener) {
    return owned_fd(checked(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), "accept4"));
  }
};

/// A listener whose backlog is full, so that a client that connects waits until another one is accepted.
struct busy_server : tcp_server {
  owned_fd earlier = begin_connect();

  busy_server() : tcp_server(0) {}
};

TEST_P(io_connect, connects) {
  const tcp_server server;
  endpoint ours(backend, new_socket(AF_INET));
  one_shot r = to(ours, server);
  EXPECT_EQ(perform(r), 0);
  const owned_fd accepted = accept_from(server.fd);
  one_shot sending(io::opcode::send, ours, "hello", 5);
  EXPECT_EQ(perform(sending), 5);
  EXPECT_EQ(received_by(accepted), "hello");
  say(accepted, "you");
  char buffer[8];
  one_shot receiving(io::opcode::receive_into, ours, buffer, sizeof(buffer));
  EXPECT_EQ(perform(receiving), 3);
}

TEST_P(io_connect, connects_without_attach) {
  const tcp_server server;
  endpoint ours(backend, new_socket(AF_INET), false);
  one_shot r = to(ours, server);
  EXPECT_EQ(perform(r), 0);
}

TEST_P(io_connect, reports_a_refusal) {
  tcp_server server;
  server.fd.close();
  endpoint ours(backend, new_socket(AF_INET));
  one_shot r = to(ours, server);
  EXPECT_EQ(perform(r), -ECONNREFUSED);
}

TEST_P(io_connect, reports_addresses_that_it_cannot_use) {
  const tcp_server server;
  endpoint ours(backend, new_socket(AF_INET));
  one_shot too_short(io::opcode::connect, ours, &server.address, 3);
  EXPECT_EQ(perform(too_short), -EINVAL);
  const sockaddr_un elsewhere{.sun_family = AF_UNIX, .sun_path = "nothing"};
  one_shot wrong_family(io::opcode::connect, ours, &elsewhere, sizeof(elsewhere));
  EXPECT_EQ(perform(wrong_family), -EAFNOSUPPORT);
}

TEST_P(io_connect, reports_what_is_connected_already) {
  const tcp_server server;
  endpoint ours(backend, new_socket(AF_INET));
  one_shot r = to(ours, server);
  EXPECT_EQ(perform(r), 0);
  backend.settle();
  one_shot again = to(ours, server);
  // The first call after an asynchronous connect may still report the success of that connect.
  EXPECT_TRUE(perform(again) == -EISCONN || again.result == 0) << again.result;
  one_shot once_more = to(ours, server);
  EXPECT_EQ(perform(once_more), -EISCONN);
}

TEST_P(io_connect, is_done_when_the_peer_has_closed_at_once) {
  const tcp_server server;
  endpoint ours(backend, new_socket(AF_INET));
  one_shot r = to(ours, server);
  submit(r);
  backend.collect();  // begins it, at the latest
  accept_from(server.fd).close();
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, 0);
}

TEST_P(io_connect, waits_until_it_is_connected) {
  const busy_server server;
  endpoint ours(backend, new_socket(AF_INET));
  backend.settle();  // an unconnected socket has "hung up", which must not be taken for an answer
  one_shot r = to(ours, server);
  submit(r);
  backend.settle();
  ASSERT_FALSE(r.done()) << r.result;
  const owned_fd accepted = accept_from(server.fd);
  // The kernel tries again one second after the first packet was dropped.
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, 0);
}

TEST_P(io_connect, reports_a_refusal_that_comes_late) {
  busy_server server;
  endpoint ours(backend, new_socket(AF_INET));
  one_shot r = to(ours, server);
  submit(r);
  backend.turn();
  server.fd.close();
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, -ECONNREFUSED);
}

// ---- AF_UNIX

TEST_P(io_connect, connects_over_a_unix_socket) {
  const unix_server server(4);
  endpoint ours(backend, new_socket(AF_UNIX));
  backend.settle();
  one_shot r = to(ours, server);
  EXPECT_EQ(perform(r), 0);
  const owned_fd accepted = accept_from(server.fd);
  say(accepted, "hi");
  char buffer[8];
  one_shot receiving(io::opcode::receive_into, ours, buffer, sizeof(buffer));
  EXPECT_EQ(perform(receiving), 2);
}

TEST_P(io_connect, reports_a_unix_socket_that_is_not_there) {
  const sockaddr_un nowhere{.sun_family = AF_UNIX, .sun_path = "/nonexistent/socket"};
  endpoint ours(backend, new_socket(AF_UNIX));
  one_shot r(io::opcode::connect, ours, &nowhere, sizeof(nowhere));
  EXPECT_EQ(perform(r), -ENOENT);
}

TEST_P(io_connect, waits_for_room_in_the_backlog_of_a_unix_socket) {
  const unix_server server(0);
  endpoint first(backend, new_socket(AF_UNIX));
  one_shot r1 = to(first, server);
  EXPECT_EQ(perform(r1), 0);
  endpoint second(backend, new_socket(AF_UNIX));
  one_shot r2 = to(second, server);
  submit(r2);
  backend.settle();
  ASSERT_FALSE(r2.done()) << r2.result;
  const owned_fd accepted = accept_from(server.fd);
  ASSERT_TRUE(backend.turn_until([&] { return r2.done(); }));
  EXPECT_EQ(r2.result, 0);
}

TEST_P(io_connect, cancelled_while_it_waits_for_a_unix_socket) {
  const unix_server server(0);
  std::vector<owned_fd> sockets;
  endpoint first(backend, new_socket(AF_UNIX));
  one_shot r1 = to(first, server);
  EXPECT_EQ(perform(r1), 0);
  endpoint second(backend, new_socket(AF_UNIX));
  endpoint third(backend, new_socket(AF_UNIX));
  one_shot r2 = to(second, server);
  one_shot r3 = to(third, server);
  submit(r2);
  submit(r3);
  backend.settle();
  backend->cancel(r2);
  ASSERT_TRUE(backend.turn_until([&] { return r2.done(); }));
  EXPECT_EQ(r2.result, -ECANCELED);
  const owned_fd accepted = accept_from(server.fd);
  ASSERT_TRUE(backend.turn_until([&] { return r3.done(); }));
  EXPECT_EQ(r3.result, 0);
}

// ---- cancelling

TEST_P(io_connect, cancelled_at_once_is_done_or_not_done) {
  const tcp_server server;
  endpoint ours(backend, new_socket(AF_INET));
  one_shot r = to(ours, server);
  submit(r);
  backend->cancel(r);
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_TRUE(r.result == 0 || r.result == -ECANCELED) << r.result;
}

TEST_P(io_connect, cancelled_while_waiting) {
  const busy_server server;
  endpoint ours(backend, new_socket(AF_INET));
  one_shot r = to(ours, server);
  submit(r);
  backend.settle();
  ASSERT_FALSE(r.done());
  backend->cancel(r);
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, -ECANCELED);
  EXPECT_EQ(r.completions, 1);
}

TEST_P(io_connect, a_cancel_that_comes_after_success_is_too_late) {
  const tcp_server server;
  endpoint ours(backend, new_socket(AF_INET));
  one_shot r = to(ours, server);
  submit(r);
  ASSERT_TRUE(backend.collect_something());
  backend->cancel(r);
  backend.run_ready();
  backend.settle();
  EXPECT_EQ(r.completions, 1);
  EXPECT_EQ(r.result, 0);
}

INSTANTIATE_TEST_SUITE_P(backends, io_connect, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
