// tests/contract/io_accept_test.cpp: opcode::accept and opcode::accept_many, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <sys/resource.h>

namespace gyre::contract {
namespace {

/// Lowers the soft limit of descriptors while it exists.
class fewer_descriptors {
 public:
  explicit fewer_descriptors(rlim_t limit) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit lower = before_;
    lower.rlim_cur = limit;
    checked(::setrlimit(RLIMIT_NOFILE, &lower), "setrlimit");
  }
  fewer_descriptors(const fewer_descriptors&) = delete;
  fewer_descriptors& operator=(const fewer_descriptors&) = delete;
  ~fewer_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

/// A listener, and a request that accepts its clients.
struct accepting : endpoint, many {
  accepting(turning_backend& performer, io::opcode operation, const tcp_server& server)
      : endpoint(performer, owned_fd(::dup(server.fd.get()))),
        many(performer, operation, static_cast<io::descriptor&>(*this)) {}
};

class io_accept : public io_contract {
 protected:
  tcp_server server;
  std::vector<owned_fd> clients;

  void connect(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) clients.push_back(server.begin_connect());
  }
  void expect_count(const accepting& m, std::size_t count) {
    EXPECT_TRUE(backend.turn_until([&] { return m.results.size() >= count; }));
    EXPECT_EQ(m.results.size(), count);
  }
  /// Every client was accepted once, in the order of their coming: each receives its own words at the other end.
  void expect_all_connected(const accepting& m) {
    expect_count(m, clients.size());
    for (std::size_t i = 0; i < clients.size(); ++i) say(clients[i], std::to_string(i));
    for (std::size_t i = 0; i < m.results.size(); ++i) {
      const owned_fd copy(::dup(m.results[i]));
      EXPECT_EQ(received_by(copy), std::to_string(i));
    }
  }
};

TEST_P(io_accept, accepts_hundreds_of_connections_that_wait_and_that_come) {
  accepting m(backend, GetParam().code, server);
  connect(250);
  submit(m);
  expect_count(m, 250);
  connect(250);
  expect_all_connected(m);
  EXPECT_FALSE(m.ended());
  EXPECT_LE(m.completions, 500);
  EXPECT_EQ(stop(m), -ECANCELED);
}

TEST_P(io_accept, accepts_connections_as_they_come) {
  accepting m(backend, GetParam().code, server);
  begin_to_wait(m);
  for (std::size_t i = 1; i <= 20; ++i) {
    connect(1);
    expect_count(m, i);
  }
  expect_all_connected(m);
  stop(m);
}

TEST_P(io_accept, gives_non_blocking_close_on_exec_descriptors) {
  accepting m(backend, GetParam().code, server);
  connect(1);
  submit(m);
  expect_count(m, 1);
  EXPECT_NE(::fcntl(m.results.at(0), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(m.results.at(0), F_GETFD) & FD_CLOEXEC, 0);
  stop(m);
}

TEST_P(io_accept, gives_a_connection_that_was_reset_meanwhile) {
  accepting m(backend, GetParam().code, server);
  connect(1);
  reset(clients[0]);
  submit(m);
  expect_count(m, 1);
  char byte = 0;
  EXPECT_EQ(::recv(m.results.at(0), &byte, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, ECONNRESET);
  stop(m);
}

TEST_P(io_accept, lets_others_have_their_turn_in_a_flood) {
  accepting m(backend, GetParam().code, server);
  endpoint other(backend, tcp_connection());
  connect(400);
  submit(m);
  char byte = 0;
  one_shot r(io::opcode::receive_into, other, &byte, 1);
  submit(r);
  say(other.peer, "x");
  for (int i = 0; i < 3 && !r.done(); ++i) backend.turn(now() + 100 * milliseconds);
  EXPECT_TRUE(r.done());
  expect_count(m, 400);
  stop(m);
}

TEST_P(io_accept, ends_when_descriptors_run_out_and_goes_on_when_submitted_again) {
  accepting m(backend, GetParam().code, server);
  connect(20);
  submit(m);
  {
    // The first accept gets the lowest free number.
    const int next = ::dup(0);
    ::close(next);
    const fewer_descriptors limit(static_cast<rlim_t>(next) + 5);
    EXPECT_EQ(result_of(m), -EMFILE);
    EXPECT_EQ(m.results.size(), 5U);
    backend.settle();
    EXPECT_EQ(perform(m), -EMFILE) << "too early, nothing has changed";
    EXPECT_EQ(m.results.size(), 5U);
  }
  // No new event will report the waiting clients.
  submit(m);
  expect_all_connected(m);
  EXPECT_FALSE(m.ended());
  connect(1);
  expect_count(m, 21);
  stop(m);
}

TEST_P(io_accept, ends_when_the_listener_is_shut_down) {
  accepting m(backend, GetParam().code, server);
  submit(m);
  backend.turn();
  ::shutdown(m.fd, SHUT_RD);
  EXPECT_EQ(result_of(m), -EINVAL);
}

TEST_P(io_accept, reports_a_socket_that_does_not_listen_and_one_that_is_not_open) {
  endpoint ours(backend, new_socket(AF_INET));
  many m(backend, GetParam().code, ours);
  EXPECT_EQ(perform(m), -EINVAL);
  io::descriptor closed{.fd = -1};
  many n(backend, GetParam().code, closed);
  EXPECT_EQ(perform(n), -EBADF);
}

// ---- cancelling

TEST_P(io_accept, cancelled_at_once_loses_no_connection) {
  accepting m(backend, GetParam().code, server);
  for (int round = 0; round < 20; ++round) {
    connect(3);
    submit(m);
    if (round % 2 == 1) backend.turn();
    EXPECT_EQ(stop(m), -ECANCELED);
  }
  submit(m);
  expect_all_connected(m);
  stop(m);
}

TEST_P(io_accept, cancelled_while_waiting_loses_no_connection) {
  accepting m(backend, GetParam().code, server);
  begin_to_wait(m);
  EXPECT_EQ(stop(m), -ECANCELED);
  connect(3);
  backend.settle();
  EXPECT_TRUE(m.results.empty());
  EXPECT_EQ(m.completions, 1);
  submit(m);
  expect_all_connected(m);
  stop(m);
}

TEST_P(io_accept, a_delivery_may_cancel) {
  accepting m(backend, GetParam().code, server);
  connect(30);
  m.on_delivery = [&](int result) {
    if (result >= 0) m.cancel();
  };
  for (int arms = 0; m.results.size() < 30; ++arms) {
    ASSERT_LE(arms, 30);
    ASSERT_EQ(perform(m), -ECANCELED);
  }
  expect_all_connected(m);
}

TEST_P(io_accept, a_cancel_comes_too_late_for_a_connection_that_was_delivered) {
  accepting m(backend, GetParam().code, server);
  connect(1);
  submit(m);
  ASSERT_TRUE(backend.collect_something());
  cancel(m);
  backend.run_ready();
  EXPECT_EQ(result_of(m), -ECANCELED);
  expect_all_connected(m);
}

TEST_P(io_accept, the_last_delivery_may_submit_again) {
  accepting m(backend, GetParam().code, server);
  int again = 3;
  m.on_delivery = [&](int result) {
    if (result == -ECANCELED && again-- > 0) submit(m);
  };
  submit(m);
  for (int i = 0; i < 3; ++i) {
    backend.settle();
    m.cancel();
  }
  backend.settle();
  connect(1);
  expect_all_connected(m);
  again = 0;
  stop(m);
}

INSTANTIATE_TEST_SUITE_P(backends, io_accept,
                         ::testing::ValuesIn(every_kernel_with({io::opcode::accept, io::opcode::accept_many})),
                         operation_name);

// ---- one completion, many deliveries

class io_accept_many : public io_accept {};

TEST_P(io_accept_many, completes_once_for_many_deliveries) {
  accepting m(backend, GetParam().code, server);
  connect(10);
  submit(m);
  while (m.results.size() < 10) {
    ASSERT_TRUE(backend.collect_something());
    backend.collect(now() + milliseconds);
  }
  EXPECT_EQ(m.completions, 0);
  EXPECT_TRUE(m.listed);
  cancel(m);
  backend.run_ready();
  EXPECT_EQ(m.completions, 1);
  EXPECT_EQ(result_of(m), -ECANCELED);
  expect_all_connected(m);
}

INSTANTIATE_TEST_SUITE_P(backends, io_accept_many, ::testing::ValuesIn(every_kernel_with({io::opcode::accept_many})),
                         backend_name);

}  // namespace
}  // namespace gyre::contract
