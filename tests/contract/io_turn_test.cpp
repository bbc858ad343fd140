// tests/contract/io_turn_test.cpp: backend::wait and wake, and the counters, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <sys/time.h>

#include <csignal>

namespace gyre::contract {
namespace {

class io_turn : public io_contract {};

// ---- waiting

TEST_P(io_turn, does_not_wait_when_it_may_not_wait) {
  const io::monotonic_time begun = now();
  for (int i = 0; i < 100; ++i) backend.turn(io::do_not_wait);
  EXPECT_LT(now() - begun, 2'000 * milliseconds);
}

TEST_P(io_turn, a_deadline_is_never_early) {
  for (const io::monotonic_time length : {io::monotonic_time{1}, io::monotonic_time{300'000}, milliseconds,
                                          io::monotonic_time{2'500'000}, 20 * milliseconds}) {
    const io::monotonic_time deadline = now() + length;
    // It may return early with nothing. The caller then waits again, but only a few times.
    int returns = 0;
    for (; now() < deadline; ++returns) backend.turn(deadline);
    EXPECT_LE(returns, 3);
    EXPECT_LT(now() - deadline, 2'000 * milliseconds);
  }
}

TEST_P(io_turn, a_deadline_that_has_passed_does_not_wait) {
  const io::monotonic_time begun = now();
  for (int i = 0; i < 100; ++i) backend.turn(begun - milliseconds * i);
  backend.turn(1);
  EXPECT_LT(now() - begun, 2'000 * milliseconds);
}

TEST_P(io_turn, a_completion_ends_the_wait) {
  endpoint ours(backend, unix_connection());
  char byte = 0;
  one_shot r(io::opcode::receive_into, ours, &byte, 1);
  submit(r);
  backend.turn();
  say(ours.peer, "x");
  while (!r.done()) backend.turn(io::wait_forever);
  EXPECT_EQ(r.result, 1);
}

TEST_P(io_turn, an_operation_that_has_completed_already_ends_the_wait) {
  endpoint ours(backend, unix_connection());
  one_shot sent(io::opcode::send, ours, "x", 1);
  submit(sent);
  while (!sent.done()) backend.turn(io::wait_forever);
  char byte = 0;
  one_shot r(io::opcode::receive_into, ours, &byte, 1);
  submit(r);
  cancel(r);
  while (!r.done()) backend.turn(io::wait_forever);
  many m(backend, io::opcode::receive_many, ours);
  submit(m);
  cancel(m);
  while (!m.ended()) backend.turn(io::wait_forever);
}

TEST_P(io_turn, completions_come_also_when_nobody_ever_waits) {
  endpoint ours(backend, unix_connection());
  endpoint other(backend, unix_connection());
  char byte = 0;
  one_shot r(io::opcode::receive_into, ours, &byte, 1);
  submit(r);
  backend.turn();
  say(ours.peer, "x");
  // As in a busy program, each turn has something of its own to hand out.
  for (int i = 0; i < 100 && !r.done(); ++i) {
    one_shot w(io::opcode::send, other, "y", 1);
    submit(w);
    while (!w.done()) backend.turn(io::do_not_wait);
  }
  EXPECT_TRUE(r.done());
}

TEST_P(io_turn, a_signal_does_no_harm) {
  const auto before = std::signal(SIGALRM, [](int) {});
  const itimerval soon{.it_interval = {.tv_sec = 0, .tv_usec = 2'000}, .it_value = {.tv_sec = 0, .tv_usec = 2'000}};
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  const io::monotonic_time deadline = now() + 30 * milliseconds;
  while (now() < deadline) backend.turn(deadline);
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, before);
  EXPECT_GE(now(), deadline);
}

// ---- waking

TEST_P(io_turn, a_wake_before_the_wait_is_not_lost) {
  for (int i = 0; i < 20; ++i) {
    backend->wake();
    backend.turn(io::wait_forever);
  }
}

TEST_P(io_turn, many_wakes_are_one) {
  for (int i = 0; i < 1000; ++i) backend->wake();
  backend.turn(io::wait_forever);
  // At most a few waits return early, and are then repeated.
  int early = 0;
  for (io::monotonic_time deadline = now() + milliseconds; now() < deadline; ++early) backend.turn(deadline);
  EXPECT_LE(early, 5);
}

io::backend* woken_by_signal = nullptr;

TEST_P(io_turn, a_signal_handler_may_wake) {
  woken_by_signal = &*backend;
  const auto before = std::signal(SIGUSR1, [](int) { woken_by_signal->wake(); });
  for (int i = 0; i < 5; ++i) {
    errno = ERANGE;
    std::raise(SIGUSR1);
    EXPECT_EQ(errno, ERANGE);
    backend.turn(io::wait_forever);
  }
  std::signal(SIGUSR1, before);
}

TEST_P(io_turn, wakes_after_turns_that_did_not_wait) {
  backend->wake();
  backend.turn(io::do_not_wait);
  backend->wake();
  backend.turn(io::wait_forever);
}

// ---- waiting elsewhere

TEST_P(io_turn, its_descriptor_falls_silent_when_nothing_is_left_to_do) {
  endpoint ours(backend, unix_connection());
  for (int i = 0; i < 10; ++i) {
    char byte = 0;
    one_shot r(io::opcode::receive_into, ours, &byte, 1);
    submit(r);
    backend.turn();
    say(ours.peer, "x");
    backend->wake();
    EXPECT_TRUE(backend.turn_until([&] { return r.done(); }));
  }
  backend.settle();
  io::ready_list ready;
  const io::monotonic_time deadline = now() + patience;
  ASSERT_GE(backend->pollable(), 0);
  while (backend->prepare_wait(deadline, ready) == io::do_not_wait) ASSERT_TRUE(ready.empty());
  pollfd watched{.fd = backend->pollable(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&watched, 1, 5), 0);
  backend->wake();
  EXPECT_EQ(::poll(&watched, 1, 10'000), 1);
}

// ---- counting

TEST_P(io_turn, counts_what_is_in_flight_until_it_is_handed_out) {
  endpoint ours(backend, unix_connection());
  EXPECT_EQ(backend->in_flight(), 0U);
  one_shot sent(io::opcode::send, ours, "x", 1);
  submit(sent);
  EXPECT_EQ(backend->in_flight(), 1U);
  EXPECT_EQ(ours.in_flight, 1U);
  many m(backend, io::opcode::receive_many, ours);
  submit(m);
  EXPECT_EQ(backend->in_flight(), 2U);
  EXPECT_EQ(ours.in_flight, 2U);
  ASSERT_TRUE(backend.collect_something());
  EXPECT_EQ(sent.where, io::phase::idle);
  EXPECT_EQ(backend->in_flight(), 1U);
  backend.run_ready();
  cancel(m);
  EXPECT_EQ(backend->in_flight(), 1U);
  EXPECT_EQ(result_of(m), -ECANCELED);
  EXPECT_EQ(backend->in_flight(), 0U);
  EXPECT_EQ(ours.in_flight, 0U);
}

TEST_P(io_turn, counts_its_system_calls) {
  const std::uint64_t before = backend->system_calls();
  backend.turn(now() + milliseconds);
  EXPECT_GT(backend->system_calls(), before);
  EXPECT_EQ(backend->name(), GetParam().is_epoll() ? "epoll" : "io_uring");
}

INSTANTIATE_TEST_SUITE_P(backends, io_turn, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
