// tests/contract/io_accept_test.cpp: opcode::accept, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <sys/resource.h>

namespace gyre::contract {
namespace {

class io_accept : public io_contract {
 protected:
  tcp_server server;

  owned_fd listener() { return owned_fd(::dup(server.fd.get())); }

  /// Exchanges a byte, to show that the connection is this client's and works.
  static void expect_connected(const owned_fd& client, int accepted) {
    const owned_fd other(accepted);
    say(client, "?");
    EXPECT_EQ(received_by(other), "?");
  }
};

TEST_P(io_accept, gives_a_connection_that_waits) {
  endpoint ours(backend, listener());
  const owned_fd client = server.begin_connect();
  one_shot r(io::opcode::accept, ours);
  ASSERT_GE(perform(r), 0);
  expect_connected(client, r.result);
}

TEST_P(io_accept, waits_for_a_connection) {
  endpoint ours(backend, listener());
  one_shot r(io::opcode::accept, ours);
  submit(r);
  backend.settle();
  EXPECT_FALSE(r.done());
  const owned_fd client = server.begin_connect();
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  expect_connected(client, r.result);
}

TEST_P(io_accept, gives_non_blocking_close_on_exec_descriptors) {
  endpoint ours(backend, listener());
  const owned_fd client = server.begin_connect();
  one_shot r(io::opcode::accept, ours);
  const owned_fd accepted(perform(r));
  EXPECT_NE(::fcntl(accepted.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(accepted.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_P(io_accept, takes_one_after_the_other) {
  endpoint ours(backend, listener());
  std::vector<owned_fd> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(server.begin_connect());
  for (const owned_fd& client : clients) {
    one_shot r(io::opcode::accept, ours);
    ASSERT_GE(perform(r), 0);
    expect_connected(client, r.result);
  }
}

TEST_P(io_accept, gives_a_connection_that_was_reset_meanwhile) {
  endpoint ours(backend, listener());
  owned_fd client = server.begin_connect();
  reset(client);
  one_shot r(io::opcode::accept, ours);
  const owned_fd accepted(perform(r));
  char byte = 0;
  EXPECT_EQ(::recv(accepted.get(), &byte, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, ECONNRESET);
}

TEST_P(io_accept, reports_a_socket_that_does_not_listen) {
  endpoint ours(backend, new_socket(AF_INET));
  one_shot r(io::opcode::accept, ours);
  EXPECT_EQ(perform(r), -EINVAL);
}

TEST_P(io_accept, ends_when_the_listener_is_shut_down) {
  endpoint ours(backend, listener());
  one_shot r(io::opcode::accept, ours);
  submit(r);
  backend.turn();
  ::shutdown(ours.fd, SHUT_RD);
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, -EINVAL);
}

TEST_P(io_accept, keeps_the_connection_for_later_when_descriptors_run_out) {
  endpoint ours(backend, listener());
  const owned_fd client = server.begin_connect();
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  ::setrlimit(RLIMIT_NOFILE, &none);
  one_shot r(io::opcode::accept, ours);
  EXPECT_EQ(perform(r), -EMFILE);
  ::setrlimit(RLIMIT_NOFILE, &before);
  // No new event will report this connection.
  ASSERT_GE(perform(r), 0);
  expect_connected(client, r.result);
}

// ---- cancelling

TEST_P(io_accept, cancelled_at_once_loses_no_connection) {
  endpoint ours(backend, listener());
  const owned_fd client = server.begin_connect();
  one_shot r(io::opcode::accept, ours);
  submit(r);
  backend->cancel(r);
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  if (r.result == -ECANCELED) perform(r);
  ASSERT_GE(r.result, 0);
  expect_connected(client, r.result);
}

TEST_P(io_accept, cancelled_while_waiting_loses_no_connection) {
  endpoint ours(backend, listener());
  one_shot r(io::opcode::accept, ours);
  submit(r);
  backend.settle();
  backend->cancel(r);
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, -ECANCELED);
  const owned_fd client = server.begin_connect();
  backend.settle();
  EXPECT_EQ(r.completions, 1);
  ASSERT_GE(perform(r), 0);
  expect_connected(client, r.result);
}

TEST_P(io_accept, a_cancel_that_comes_after_success_is_too_late) {
  endpoint ours(backend, listener());
  const owned_fd client = server.begin_connect();
  one_shot r(io::opcode::accept, ours);
  submit(r);
  ASSERT_TRUE(backend.collect_something());
  backend->cancel(r);
  backend.run_ready();
  backend.settle();
  EXPECT_EQ(r.completions, 1);
  ASSERT_GE(r.result, 0);
  expect_connected(client, r.result);
}

INSTANTIATE_TEST_SUITE_P(backends, io_accept, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
