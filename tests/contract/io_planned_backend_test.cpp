// tests/contract/io_planned_backend_test.cpp: a plan for the calls and requests of a backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <gyre/io/blocking_pool.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/io/monotonic_clock.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/io/random_bytes.hpp>

#include <fcntl.h>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>

namespace gyre::contract {
namespace {

using namespace std::chrono_literals;
using gyre_test::planned_call;
using gyre_test::planned_kernel;
using gyre_test::planned_request;

class io_planned : public io_contract {
 protected:
  void TearDown() override {
    planned_call::that_makes_descriptors().stop();
    io_contract::TearDown();
  }
};

TEST(planned_kernel, no_entry_goes_past_the_plan) {
  using words = std::array<void*, sizeof(io::kernel) / sizeof(void*)>;
  const auto planned = std::bit_cast<words>(planned_kernel::instance());
  const auto real = std::bit_cast<words>(io::kernel::real());
  for (std::size_t i = 0; i < planned.size(); ++i) EXPECT_NE(planned[i], real[i]) << "entry " << i;
}

TEST_P(io_planned, a_call_that_fails_by_the_plan_reports_its_error_and_the_next_one_succeeds) {
  planned_call& binds = planned_call::named("bind");
  const io::kernel_scope used(backend->calls());
  const gyre::owned_fd socket(io::sockets().socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in any{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
  const auto bind = [&] {
    return io::sockets().bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any));
  };
  const long before = binds.count();
  binds.fail_nth(1, EADDRINUSE);
  EXPECT_EQ(bind(), -1);
  EXPECT_EQ(errno, EADDRINUSE);
  EXPECT_EQ(bind(), 0);
  EXPECT_TRUE(binds.stop());
  EXPECT_EQ(binds.count() - before, 2);
}

TEST_P(io_planned, an_attempt_fails_by_the_plan) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  planned_call& sends = planned_call::named("send");
  sends.fail_nth(1, EPIPE);
  one_shot r(io::opcode::send, ours, "x", 1);
  EXPECT_TRUE(backend->attempt(r));
  EXPECT_EQ(r.result, -EPIPE);
  EXPECT_TRUE(sends.stop());
}

TEST_P(io_planned, the_nth_descriptor_of_any_kind_fails) {
  const io::kernel_scope used(backend->calls());
  planned_call& makes = planned_call::that_makes_descriptors();
  makes.fail_nth(3, EMFILE);
  const gyre::owned_fd socket(io::sockets().socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const gyre::owned_fd copy = gyre::owned_fd::duplicate_of(socket.get());
  const gyre::owned_fd file(io::files().openat(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0));
  EXPECT_EQ(errno, EMFILE);
  EXPECT_TRUE(socket);
  EXPECT_TRUE(copy);
  EXPECT_FALSE(file);
  EXPECT_TRUE(makes.stop());
}

TEST_P(io_planned, a_request_that_fails_by_the_plan_completes_once_with_its_error) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  say(c.peer, "x");
  char buffer[4];
  one_shot r(io::opcode::receive_into, ours, buffer, sizeof(buffer));
  planned_request(r.code).fail_nth(1, ECONNRESET);
  EXPECT_EQ(perform(r), -ECONNRESET);
  EXPECT_TRUE(planned_request(r.code).stop());
  EXPECT_EQ(perform(r), 1);
}

TEST_P(io_planned, a_multishot_that_fails_by_the_plan_ends_with_its_error) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, io::opcode::receive_many, ours);
  planned_request(m.code).fail_nth(1, ENOBUFS);
  submit(m);
  EXPECT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -ENOBUFS);
  EXPECT_TRUE(planned_request(m.code).stop());
}

TEST_P(io_planned, a_delayed_request_starts_after_so_many_waits) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r(io::opcode::send, ours, "late", 4);
  planned_request(r.code).delay_by_waits(3);
  submit(r);
  backend.turn();
  backend.turn();
  EXPECT_EQ(received_by(c.peer), "");
  EXPECT_TRUE(backend.turn_until([&] { return r.done(); }));
  planned_request(r.code).stop();
  EXPECT_EQ(r.result, 4);
  EXPECT_EQ(received_by(c.peer, 4), "late");
}

TEST_P(io_planned, a_delayed_request_that_is_cancelled_never_starts) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r(io::opcode::send, ours, "never", 5);
  planned_request(r.code).delay_by_waits(100);
  submit(r);
  backend->cancel(r);
  EXPECT_TRUE(backend.turn_until([&] { return r.done(); }));
  planned_request(r.code).stop();
  EXPECT_EQ(r.result, -ECANCELED);
  EXPECT_EQ(received_by(c.peer), "");
}

TEST_P(io_planned, a_job_of_a_pool_uses_the_kernel_of_its_submitter) {
  struct job : io::blocking_job {
    const io::kernel* found = nullptr;
  } asks;
  asks.run = [](io::blocking_job& self) noexcept { static_cast<job&>(self).found = &io::kernel::here(); };
  io::blocking_pool pool(1);
  const long before = planned_call::named("submit_job").count();
  {
    const io::kernel_scope used(backend->calls());
    pool.submit(asks);
  }
  pool.join();
  EXPECT_EQ(asks.found, &planned_kernel::instance());
  EXPECT_EQ(planned_call::named("submit_job").count() - before, 1);
  job after;
  after.run = asks.run;
  pool.submit(after);
  pool.join();
  EXPECT_EQ(after.found, &io::kernel::real());
}

TEST_P(io_planned, clocks_and_random_bytes_are_counted_and_calls_are_delayed) {
  const io::kernel_scope used(backend->calls());
  planned_call& draws = planned_call::named("getrandom");
  const long before = draws.count();
  draws.delay(2ms);
  const io::monotonic_time began = io::monotonic_now();
  (void)io::random_secret();
  draws.stop();
  EXPECT_GE(io::monotonic_now() - began, 2 * milliseconds);
  EXPECT_EQ(draws.count() - before, 1);
  EXPECT_GE(planned_call::named("clock_gettime").count(), 2);
}

INSTANTIATE_TEST_SUITE_P(backends, io_planned,
                         ::testing::Values(backend_way{gyre_test::planned_uring},
                                           backend_way{gyre_test::planned_epoll}),
                         backend_name);

}  // namespace
}  // namespace gyre::contract
