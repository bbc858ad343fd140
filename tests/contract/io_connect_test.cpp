// tests/contract/io_connect_test.cpp: opcode::connect, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

namespace gyre::contract {
namespace {

/// A socket, and a request that connects it.
struct connecting : endpoint, one_shot {
  connecting(turning_backend& performer, const tcp_server& server, bool attach_now = true)
      : endpoint(performer, new_socket(AF_INET), attach_now),
        one_shot(io::opcode::connect, static_cast<io::descriptor&>(*this), &server.address, sizeof(server.address)) {}
  connecting(turning_backend& performer, const unix_server& server)
      : endpoint(performer, new_socket(AF_UNIX)),
        one_shot(io::opcode::connect, static_cast<io::descriptor&>(*this), &server.address, server.size) {}
};

class io_connect : public io_contract {
 protected:
  static owned_fd accept_from(const owned_fd& listener) {
    return owned_fd(checked(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), "accept4"));
  }
  /// Bytes pass in both directions.
  void expect_connected(io::descriptor& ours, const owned_fd& accepted) {
    one_shot sending(io::opcode::send, ours, "hello", 5);
    EXPECT_EQ(perform(sending), 5);
    EXPECT_EQ(received_by(accepted), "hello");
    say(accepted, "you");
    char buffer[8];
    one_shot receiving(io::opcode::receive_into, ours, buffer, sizeof(buffer));
    EXPECT_EQ(perform(receiving), 3);
  }
};

/// A listener whose backlog is full, so that a client that connects waits until another one is accepted.
struct busy_server : tcp_server {
  owned_fd earlier = begin_connect();

  busy_server() : tcp_server(0) {}
};

TEST_P(io_connect, connects_over_tcp) {
  const tcp_server server;
  connecting r(backend, server);
  EXPECT_EQ(perform(r), 0);
  expect_connected(r, accept_from(server.fd));
}

TEST_P(io_connect, connects_over_a_unix_socket) {
  const unix_server server(4);
  connecting r(backend, server);
  backend.settle();
  EXPECT_EQ(perform(r), 0);
  expect_connected(r, accept_from(server.fd));
}

TEST_P(io_connect, connects_without_attach) {
  const tcp_server server;
  connecting r(backend, server, false);
  EXPECT_EQ(perform(r), 0);
}

TEST_P(io_connect, reports_a_refusal) {
  tcp_server server;
  server.fd.close();
  connecting r(backend, server);
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
  const sockaddr_un nowhere{.sun_family = AF_UNIX, .sun_path = "/nonexistent/socket"};
  endpoint by_path(backend, new_socket(AF_UNIX));
  one_shot no_file(io::opcode::connect, by_path, &nowhere, sizeof(nowhere));
  EXPECT_EQ(perform(no_file), -ENOENT);
}

TEST_P(io_connect, reports_a_socket_that_is_connected_already) {
  const tcp_server server;
  connecting r(backend, server);
  EXPECT_EQ(perform(r), 0);
  backend.settle();
  // The first call after an asynchronous connect may still report the success of that connect.
  const int again = perform(r);
  EXPECT_TRUE(again == -EISCONN || again == 0) << again;
  EXPECT_EQ(perform(r), -EISCONN);
}

TEST_P(io_connect, is_done_when_the_peer_has_closed_at_once) {
  const tcp_server server;
  connecting r(backend, server);
  submit(r);
  backend.collect();  // begins it, at the latest
  accept_from(server.fd).close();
  EXPECT_EQ(result_of(r), 0);
}

TEST_P(io_connect, waits_until_it_is_connected) {
  const busy_server server;
  connecting r(backend, server);
  backend.settle();  // an unconnected socket has "hung up", which must not be taken for an answer
  begin_to_wait(r);
  const owned_fd accepted = accept_from(server.fd);
  EXPECT_EQ(result_of(r), 0);  // the kernel tries again one second after the first packet was dropped
}

TEST_P(io_connect, waits_for_room_in_the_backlog_of_a_unix_socket) {
  const unix_server server(0);
  connecting first(backend, server);
  EXPECT_EQ(perform(first), 0);
  connecting second(backend, server);
  begin_to_wait(second);
  const owned_fd accepted = accept_from(server.fd);
  EXPECT_EQ(result_of(second), 0);
}

TEST_P(io_connect, reports_a_refusal_that_comes_late) {
  busy_server server;
  connecting r(backend, server);
  submit(r);
  backend.turn();
  server.fd.close();
  EXPECT_EQ(result_of(r), -ECONNREFUSED);
}

// ---- cancelling

TEST_P(io_connect, cancelled_at_once_is_done_or_not_done) {
  const tcp_server server;
  connecting r(backend, server);
  submit(r);
  const int result = stop(r);
  EXPECT_TRUE(result == 0 || result == -ECANCELED) << result;
}

TEST_P(io_connect, cancelled_while_it_waits_for_tcp_is_not_done) {
  const busy_server server;
  connecting r(backend, server);
  begin_to_wait(r);
  EXPECT_EQ(stop(r), -ECANCELED);
  EXPECT_EQ(r.completions, 1);
}

TEST_P(io_connect, cancelled_while_it_waits_for_a_unix_socket_leaves_the_room_to_the_next) {
  const unix_server server(0);
  connecting first(backend, server);
  EXPECT_EQ(perform(first), 0);
  connecting second(backend, server);
  connecting third(backend, server);
  begin_to_wait(second);
  begin_to_wait(third);
  EXPECT_EQ(stop(second), -ECANCELED);
  const owned_fd accepted = accept_from(server.fd);
  EXPECT_EQ(result_of(third), 0);
}

TEST_P(io_connect, a_cancel_that_comes_after_success_is_too_late) {
  const tcp_server server;
  connecting r(backend, server);
  EXPECT_EQ(cancelled_after_success(r), 0);
}

INSTANTIATE_TEST_SUITE_P(backends, io_connect, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
