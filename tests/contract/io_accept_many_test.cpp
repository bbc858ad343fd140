// tests/contract/io_accept_many_test.cpp: opcode::accept_many, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <sys/resource.h>

#include <set>

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

class io_accept_many : public io_contract {
 protected:
  tcp_server server;
  std::vector<owned_fd> clients;

  owned_fd listener() { return owned_fd(::dup(server.fd.get())); }
  void connect(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) clients.push_back(server.begin_connect());
  }

  /// Every client was accepted once: each receives its own words at the other end.
  void expect_all_connected(const std::vector<int>& accepted) {
    ASSERT_EQ(accepted.size(), clients.size());
    for (std::size_t i = 0; i < clients.size(); ++i) say(clients[i], std::to_string(i));
    std::set<std::string> heard;
    for (int fd : accepted) {
      const owned_fd copy(::dup(fd));
      heard.insert(received_by(copy));
    }
    EXPECT_EQ(heard.size(), clients.size());
  }
};

TEST_P(io_accept_many, accepts_500_connections) {
  endpoint ours(backend, listener());
  connect(250);
  many m(backend, io::opcode::accept_many, ours);
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.results.size() == 250; }));
  connect(250);
  ASSERT_TRUE(backend.turn_until([&] { return m.results.size() == 500; }));
  EXPECT_FALSE(m.ended());
  expect_all_connected(m.results);
  EXPECT_LE(m.completions, 500);
  stop(m);
  EXPECT_EQ(m.last_result, -ECANCELED);
}

TEST_P(io_accept_many, accepts_connections_as_they_come) {
  endpoint ours(backend, listener());
  many m(backend, io::opcode::accept_many, ours);
  submit(m);
  for (std::size_t i = 1; i <= 20; ++i) {
    connect(1);
    ASSERT_TRUE(backend.turn_until([&] { return m.results.size() == i; }));
  }
  expect_all_connected(m.results);
  stop(m);
}

TEST_P(io_accept_many, gives_non_blocking_close_on_exec_descriptors) {
  endpoint ours(backend, listener());
  connect(1);
  many m(backend, io::opcode::accept_many, ours);
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.results.size() == 1; }));
  EXPECT_NE(::fcntl(m.results[0], F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(m.results[0], F_GETFD) & FD_CLOEXEC, 0);
  stop(m);
}

TEST_P(io_accept_many, completes_once_for_many_deliveries) {
  endpoint ours(backend, listener());
  connect(10);
  many m(backend, io::opcode::accept_many, ours);
  submit(m);
  while (m.results.size() < 10) ASSERT_TRUE(backend.collect_something()), backend.collect(now() + milliseconds);
  EXPECT_EQ(m.completions, 0);
  EXPECT_TRUE(m.listed);
  backend.run_ready();
  EXPECT_EQ(m.completions, 1);
  stop(m);
}

TEST_P(io_accept_many, lets_others_have_their_turn_in_a_flood) {
  endpoint ours(backend, listener());
  connection c = tcp_connection();
  endpoint other(backend, std::move(c.ours));
  connect(400);
  many m(backend, io::opcode::accept_many, ours);
  submit(m);
  char byte = 0;
  one_shot r(io::opcode::receive_into, other, &byte, 1);
  submit(r);
  say(c.peer, "x");
  for (int i = 0; i < 3 && !r.done(); ++i) backend.turn(now() + 100 * milliseconds);
  EXPECT_TRUE(r.done());
  ASSERT_TRUE(backend.turn_until([&] { return m.results.size() == 400; }));
  stop(m);
}

TEST_P(io_accept_many, ends_when_descriptors_run_out_and_goes_on_when_submitted_again) {
  endpoint ours(backend, listener());
  connect(20);
  many m(backend, io::opcode::accept_many, ours);
  submit(m);
  {
    // The first accept gets the lowest free number.
    const int next = ::dup(0);
    ::close(next);
    const fewer_descriptors limit(static_cast<rlim_t>(next) + 5);
    ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
    EXPECT_EQ(m.last_result, -EMFILE);
    EXPECT_EQ(m.results.size(), 5U);
    backend.settle();
    submit(m);  // too early, nothing has changed
    ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
    EXPECT_EQ(m.last_result, -EMFILE);
    EXPECT_EQ(m.results.size(), 5U);
  }
  // No new event will report the waiting clients.
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.results.size() == 20; }));
  expect_all_connected(m.results);
  EXPECT_FALSE(m.ended());
  connect(1);
  ASSERT_TRUE(backend.turn_until([&] { return m.results.size() == 21; }));
  stop(m);
}

TEST_P(io_accept_many, ends_when_the_listener_is_shut_down) {
  endpoint ours(backend, listener());
  many m(backend, io::opcode::accept_many, ours);
  submit(m);
  backend.turn();
  ::shutdown(ours.fd, SHUT_RD);
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -EINVAL);
}

TEST_P(io_accept_many, reports_what_does_not_listen_and_what_is_not_open) {
  endpoint ours(backend, new_socket(AF_INET));
  many m(backend, io::opcode::accept_many, ours);
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -EINVAL);
  io::descriptor closed{.fd = -1};
  many n(backend, io::opcode::accept_many, closed);
  submit(n);
  ASSERT_TRUE(backend.turn_until([&] { return n.ended(); }));
  EXPECT_EQ(n.last_result, -EBADF);
}

// ---- cancelling

TEST_P(io_accept_many, cancelled_at_once_loses_no_connection) {
  endpoint ours(backend, listener());
  connect(10);
  many m(backend, io::opcode::accept_many, ours);
  submit(m);
  backend->cancel(m);
  EXPECT_EQ(m.last_result, 1) << "delivered inside cancel";
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -ECANCELED);
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.results.size() == 10; }));
  expect_all_connected(m.results);
  stop(m);
}

TEST_P(io_accept_many, cancelled_while_waiting_loses_no_connection) {
  endpoint ours(backend, listener());
  many m(backend, io::opcode::accept_many, ours);
  submit(m);
  backend.settle();
  stop(m);
  EXPECT_EQ(m.last_result, -ECANCELED);
  EXPECT_TRUE(m.results.empty());
  connect(3);
  backend.settle();
  EXPECT_TRUE(m.results.empty());
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.results.size() == 3; }));
  stop(m);
}

TEST_P(io_accept_many, a_delivery_may_cancel) {
  endpoint ours(backend, listener());
  connect(30);
  many m(backend, io::opcode::accept_many, ours);
  m.on_delivery = [&](int result) {
    if (result >= 0) backend->cancel(m);
  };
  for (int arms = 0; m.results.size() < 30; ++arms) {
    ASSERT_LE(arms, 30);
    submit(m);
    ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
    ASSERT_EQ(m.last_result, -ECANCELED);
  }
  expect_all_connected(m.results);
}

TEST_P(io_accept_many, what_was_delivered_before_the_cancel_stays_delivered) {
  endpoint ours(backend, listener());
  connect(2);
  many m(backend, io::opcode::accept_many, ours);
  submit(m);
  ASSERT_TRUE(backend.collect_something());
  while (m.results.size() < 2) backend.collect(now() + milliseconds);
  backend->cancel(m);
  backend.run_ready();
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  expect_all_connected(m.results);
}

TEST_P(io_accept_many, the_last_delivery_may_submit_again) {
  endpoint ours(backend, listener());
  many m(backend, io::opcode::accept_many, ours);
  int again = 3;
  m.on_delivery = [&](int result) {
    if (result == -ECANCELED && again-- > 0) submit(m);
  };
  submit(m);
  for (int i = 0; i < 3; ++i) {
    backend.settle();
    backend->cancel(m);
  }
  backend.settle();
  connect(1);
  ASSERT_TRUE(backend.turn_until([&] { return m.results.size() == 1; }));
  again = 0;
  stop(m);
}

INSTANTIATE_TEST_SUITE_P(backends, io_accept_many, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
