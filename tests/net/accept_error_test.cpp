// tests/net/accept_error_test.cpp: errors of accept(2), and what they mean for a listener.
#include <gyre/io/kernel.hpp>
#include <gyre/net/tcp_listener.hpp>

#include "tests/support/error_of.hpp"
#include "tests/support/virtual_run.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

using namespace gyre_test;

namespace {

// The number of next accept4 calls that take a connection off the backlog and fail. (A ring accepts without this call.)
int calls_that_fail = 0;
int error_they_give = 0;

int accept_or_fail(int fd, sockaddr* address, socklen_t* length, int flags) {
  const int accepted = gyre::io::kernel::real().sockets.accept4(fd, address, length, flags);
  if (accepted < 0 || calls_that_fail == 0) return accepted;
  --calls_that_fail;
  ::close(accepted);
  errno = error_they_give;
  return -1;
}

const gyre::io::kernel& accepting_with_errors() {
  static const gyre::io::kernel calls = [] {
    gyre::io::kernel changed = gyre::io::kernel::real();
    changed.sockets.accept4 = &accept_or_fail;
    return changed;
  }();
  return calls;
}

class accept_error : public testing::Test {
  gyre::io::kernel_scope used_{accepting_with_errors()};
};

bool accepts_by_call() { return gyre::event_loop::current().backend().name() == "epoll"; }

}  // namespace

TEST_F(accept_error, on_one_connection_costs_that_connection_and_not_the_listener) {
  for (const int error : {EPERM, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT,
                          ECONNRESET, ECONNABORTED, EPROTO, EINTR})
    run_virtual([error]() -> gyre::task<> {
      if (!accepts_by_call()) co_return;
      auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
      error_they_give = error;
      calls_that_fail = 3;
      std::vector<gyre::tcp_stream> clients;
      for (int i = 0; i < 4; ++i) clients.push_back(co_await gyre::tcp_stream::connect(listener.local_address()));
      auto peer = co_await listener.accept();
      EXPECT_EQ(peer.peer_address().string(), clients.back().local_address().string()) << error;
    });
}

TEST_F(accept_error, on_one_connection_costs_only_that_connection_when_the_listener_finishes) {
  for (const int error : {EPERM, ECONNABORTED, EPROTO, EINTR})
    run_virtual([error]() -> gyre::task<> {
      auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
      std::vector<gyre::tcp_stream> clients;
      for (int i = 0; i < 3; ++i) clients.push_back(co_await gyre::tcp_stream::connect(listener.local_address()));
      error_they_give = error;
      calls_that_fail = 1;
      listener.finish();
      for (std::size_t i = 1; i < clients.size(); ++i) {
        const auto peer = co_await listener.accept();
        EXPECT_EQ(peer.peer_address(), clients[i].local_address()) << error;
      }
      EXPECT_NE(co_await error_of(listener.accept()), "");
    });
}

TEST_F(accept_error, on_every_connection_makes_the_listener_pause_and_go_on) {
  run_virtual([]() -> gyre::task<> {
    if (!accepts_by_call()) co_return;
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    error_they_give = EPERM;
    calls_that_fail = 40;
    std::vector<gyre::tcp_stream> clients;
    for (int i = 0; i < 41; ++i) clients.push_back(co_await gyre::tcp_stream::connect(listener.local_address()));
    const auto begin = gyre::now();
    auto peer = co_await listener.accept();
    EXPECT_EQ(since(begin), 100ms) << "two pauses";
    EXPECT_EQ(peer.peer_address().string(), clients.back().local_address().string());
  });
}

TEST_F(accept_error, by_a_shortage_makes_the_listener_pause_and_go_on) {
  for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM})
    run_virtual([error]() -> gyre::task<> {
      if (!accepts_by_call()) co_return;
      auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
      error_they_give = error;
      calls_that_fail = 1;
      auto lost = co_await gyre::tcp_stream::connect(listener.local_address());
      auto client = co_await gyre::tcp_stream::connect(listener.local_address());
      const auto begin = gyre::now();
      auto peer = co_await listener.accept();
      EXPECT_EQ(since(begin), 50ms) << error;
      EXPECT_EQ(peer.peer_address().string(), client.local_address().string());
    });
}

TEST_F(accept_error, ends_a_listener_that_it_concerns_itself) {
  run_virtual([]() -> gyre::task<> {
    if (!accepts_by_call()) co_return;
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    error_they_give = ENOSYS;
    calls_that_fail = 1;
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    const std::string where = listener.local_address().string();
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(co_await error_of(listener.accept()), "accept " + where + ": Function not implemented");
  });
}

TEST_F(accept_error, is_told_to_who_waits_although_the_listener_is_destroyed_at_once) {
  run_virtual([]() -> gyre::task<> {
    if (!accepts_by_call()) co_return;
    std::optional<gyre::tcp_listener> listener(gyre::tcp_listener::bind("127.0.0.1:0"));
    const std::string where = listener->local_address().string();
    auto accepting = [](gyre::tcp_listener& from) -> gyre::task<> { (void)co_await from.accept(); };
    auto waiting = gyre::spawn(accepting(*listener));
    error_they_give = EMFILE;  // it pauses, and no accept is in flight
    calls_that_fail = 1;
    auto client = co_await gyre::tcp_stream::connect(listener->local_address());
    while (calls_that_fail > 0) co_await gyre::sleep(1ms);
    listener->stop();
    listener.reset();
    const std::string error = co_await error_of(std::move(waiting));
    EXPECT_EQ(error, "accept " + where + ": Operation canceled");
  });
}
