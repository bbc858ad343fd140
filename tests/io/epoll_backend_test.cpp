// tests/io/epoll_backend_test.cpp: promises that only the epoll backend makes: few system calls, and old kernels.
// tests/contract covers its requests.
#include "tests/contract/io_contract_fixture.hpp"
#include "tests/support/denied_call.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>

namespace gyre::contract {
namespace {

class epoll_backend_test : public ::testing::Test {
 protected:
  turning_backend backend{io::backend_kind::epoll};
};

TEST_F(epoll_backend_test, does_not_ask_when_nothing_is_registered_and_it_may_not_wait) {
  EXPECT_EQ(backend.calls_of([&] { backend.turn(); }), 0U);
  EXPECT_EQ(backend.calls_of([&] { backend.turn(now() + milliseconds); }), 1U);
}

TEST_F(epoll_backend_test, receives_a_message_with_two_system_calls) {
  receiver m(backend, io::opcode::receive_many, tcp_connection());
  m.submit();
  backend.settle();
  for (int i = 0; i < 10; ++i) {
    say(m.peer, "request");
    const std::size_t before = m.bytes.size();
    EXPECT_EQ(backend.calls_of([&] { ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() > before; })); }), 2U)
        << "the event, the bytes, and no look whether there are more";
  }
  m.cancel();
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
}

TEST_F(epoll_backend_test, sockets_that_become_readable_together_do_not_make_buffers_scarce) {
  std::deque<receiver> all;
  for (std::uint32_t i = 0; i < backend->buffers().count(); ++i) {
    receiver& each = all.emplace_back(backend, io::opcode::receive_many, unix_connection());
    each.keeps_buffers = true;
    each.submit();
  }
  backend.settle();
  for (receiver& each : all) say(each.peer, "request");
  const auto all_have_come = [&] {
    return std::ranges::all_of(all, [](const receiver& each) { return each.bytes == "request"; });
  };
  while (!all_have_come()) {
    backend.turn(now() + patience);
    ASSERT_FALSE(backend->buffers().scarce());
    for (receiver& each : all) each.release_kept();
  }
  for (receiver& each : all) each.cancel();
  ASSERT_TRUE(backend.turn_until([&] { return std::ranges::all_of(all, &receiver::ended); }));
}

TEST_F(epoll_backend_test, sends_with_one_system_call) {
  endpoint ours(backend, tcp_connection());
  backend.settle();
  one_shot r(io::opcode::send, ours, "x", 1);
  ++r.submissions;
  EXPECT_EQ(backend.calls_of([&] {
    backend->submit(r);
    backend.turn();
  }),
            1U);
  EXPECT_TRUE(r.done());
}

TEST_F(epoll_backend_test, looks_at_the_kernel_at_least_every_eighth_turn) {
  endpoint one(backend, unix_connection());
  endpoint two(backend, unix_connection());
  char byte = 0;
  one_shot r(io::opcode::receive_into, two, &byte, 1);
  ++r.submissions;
  backend->submit(r);
  backend.settle();
  say(two.peer, "x");
  int turns = 0;
  for (; !r.done() && turns < 100; ++turns) {
    one_shot w(io::opcode::send, one, "y", 1);
    ++w.submissions;
    backend->submit(w);
    backend.turn();
    EXPECT_TRUE(w.done());
  }
  EXPECT_LE(turns, 8);
}

TEST_F(epoll_backend_test, hands_out_a_limited_number_of_results_of_one_descriptor_in_a_turn) {
  const tcp_server server;
  endpoint listener(backend, owned_fd(::dup(server.fd.get())));
  std::vector<owned_fd> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(server.begin_connect());
  many accepting(backend, io::opcode::accept_many, listener);
  accepting.submit();
  std::vector<std::size_t> accepted;
  while (accepting.results.size() < 200 && accepted.size() < 100) {
    const std::size_t before = accepting.results.size();
    backend.turn(now() + milliseconds);
    accepted.push_back(accepting.results.size() - before);
  }
  EXPECT_EQ(accepting.results.size(), 200U);
  EXPECT_LE(*std::max_element(accepted.begin(), accepted.end()), 64U);
  accepting.cancel();
  ASSERT_TRUE(backend.turn_until([&] { return accepting.ended(); }));
}

// ---- calls that the kernel may refuse: in a child, because a filter of system calls is permanent

[[noreturn]] void leave(bool well) { std::_Exit(well ? 0 : 1); }

class epoll_backend_in_a_child : public ::testing::Test {
 protected:
  // The child is started anew, because other tests may have left threads behind.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(epoll_backend_in_a_child, works_without_epoll_pwait2) {
  const auto old_kernel = [](int answer) {
    turning_backend backend(io::backend_kind::epoll);
    gyre_test::deny_call(SYS_epoll_pwait2, answer);
    bool well = true;
    for (const io::monotonic_time length : {io::monotonic_time{100'000}, 3 * milliseconds}) {
      const io::monotonic_time deadline = now() + length;
      backend.turn(deadline);
      well = well && now() >= deadline && now() < deadline + 2'000 * milliseconds;
    }
    endpoint ours(backend, unix_connection());
    char byte = 0;
    one_shot r(io::opcode::receive_into, ours, &byte, 1);
    ++r.submissions;
    backend->submit(r);
    backend.turn();
    say(ours.peer, "x");
    while (!r.done()) backend.turn(io::wait_forever);
    backend->wake();
    backend.turn(io::wait_forever);
    leave(well && r.result == 1);
  };
  EXPECT_EXIT(old_kernel(ENOSYS), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(old_kernel(EPERM), ::testing::ExitedWithCode(0), "") << "the filters of older containers answer so";
}

TEST_F(epoll_backend_in_a_child, stops_the_program_with_a_sentence_when_it_has_no_way_to_wait) {
  const auto denied_later = [] {
    turning_backend backend(io::backend_kind::epoll);
    gyre_test::deny_call(SYS_epoll_pwait2, EPERM);
    gyre_test::deny_call(gyre_test::epoll_wait_call, EPERM);
    backend.turn(now() + milliseconds);
  };
  EXPECT_DEATH(denied_later(), "epoll_wait failed with EPERM: a seccomp filter denies it");
  const auto closed = [] {
    turning_backend backend(io::backend_kind::epoll);
    ::close(backend->pollable());
    backend.turn(now() + milliseconds);
  };
  EXPECT_DEATH(closed(), "epoll_wait failed with EBADF: the program has closed a descriptor");
}

TEST_F(epoll_backend_in_a_child, a_descriptor_that_cannot_be_registered_is_the_error_of_its_requests) {
  const auto no_watch_left = [] {
    turning_backend backend(io::backend_kind::epoll);
    gyre_test::deny_call(SYS_epoll_ctl, ENOSPC);
    endpoint ours(backend, unix_connection());
    char byte = 0;
    one_shot r(io::opcode::receive_into, ours, &byte, 1);
    ++r.submissions;
    backend->submit(r);
    many m(backend, io::opcode::receive_many, ours);
    m.submit();
    while (!r.done() || !m.ended()) backend.turn(io::wait_forever);
    leave(r.result == -ENOSPC && m.last_result == -ENOSPC && backend->in_flight() == 0);
  };
  EXPECT_EXIT(no_watch_left(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gyre::contract
