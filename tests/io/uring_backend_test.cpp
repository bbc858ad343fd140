// tests/io/uring_backend_test.cpp: features that only a ring has: its queues, its doorbell, its calls, its end.
#include "tests/io/uring_fixture.hpp"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <deque>
#include <thread>

namespace gyre::uring_test {
namespace {

using io::opcode;

int open_descriptors() {
  int count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

/// A receive on a socket of its own.
struct pair_receiving {
  connection c = unix_connection();
  io::descriptor d = over(c.ours);
  char byte = 0;
  one_shot r{opcode::receive_into, d, &byte, 1};
};

// ---- system calls

TEST_F(uring_backend, any_number_of_submissions_and_the_wait_are_one_system_call) {
  std::deque<pair_receiving> pairs(30);
  EXPECT_EQ(d->calls_of([&] {
    for (auto& p : pairs) d->backend->submit(p.r);
    d->turn();
  }),
            1U);
  EXPECT_EQ(d->backend->in_flight(), 30U);
  for (auto& p : pairs) say(p.c.peer, "x");
  EXPECT_EQ(d->calls_of([&] { d->turn(io::wait_forever); }), 1U);
  EXPECT_TRUE(d->turn_until([&] { return d->backend->in_flight() == 0; }));
}

TEST_F(uring_backend, a_look_without_anything_to_do_is_a_system_call_every_eighth_time) {
  d->settle();
  EXPECT_EQ(d->calls_of([&] {
    for (int i = 0; i < 80; ++i) d->turn();
  }),
            10U);
}

TEST_F(uring_backend, a_look_asks_the_kernel_when_it_has_something) {
  pair_receiving p;
  d->backend->submit(p.r);
  d->settle();
  say(p.c.peer, "x");  // now the queue shows that completions wait to be collected
  EXPECT_EQ(d->calls_of([&] { d->turn(); }), 1U);
  EXPECT_EQ(p.r.completions, 1);
}

TEST_F(uring_backend, a_wait_with_something_to_hand_out_does_not_sleep) {
  const connection c = unix_connection();
  io::descriptor target = over(c.ours);
  many m(opcode::receive_many, target);
  d->backend->submit(m);
  d->settle();
  d->backend->cancel(m);
  d->turn(io::wait_forever);
  EXPECT_TRUE(d->turn_until([&] { return m.ended(); }));
}

TEST_F(uring_backend, more_submissions_than_the_queue_holds_are_all_performed) {
  begin({.submission_entries = 4, .completion_entries = 1024, .buffer_count = 16, .buffer_size = 256});
  std::deque<pair_receiving> pairs(200);
  for (auto& p : pairs) {
    say(p.c.peer, "x");
    d->backend->submit(p.r);
  }
  EXPECT_TRUE(d->turn_until([&] { return d->backend->in_flight() == 0; }));
  for (auto& p : pairs) EXPECT_EQ(p.r.result, 1);
}

// ---- a completion queue that is too small

class uring_overflow : public uring_backend {
 protected:
  void SetUp() override {
    uring_backend::SetUp();
    if (d) begin({.submission_entries = 4, .completion_entries = 8, .buffer_count = 64, .buffer_size = 256});
  }
};

TEST_F(uring_overflow, loses_no_completion) {
  std::deque<pair_receiving> pairs(300);
  for (auto& p : pairs) d->backend->submit(p.r);
  d->turn();
  for (auto& p : pairs) say(p.c.peer, "x");
  EXPECT_TRUE(d->turn_until([&] { return d->backend->in_flight() == 0; }));
  for (auto& p : pairs) EXPECT_EQ(p.r.completions, 1);
}

TEST_F(uring_overflow, a_multishot_that_ends_with_it_goes_on_when_it_is_submitted_again) {
  const tcp_server server;
  std::vector<owned_fd> clients;
  for (int i = 0; i < 60; ++i) clients.push_back(server.begin_connect());
  io::descriptor target = over(server.fd);
  many m(opcode::accept_many, target);
  d->backend->submit(m);
  int ends = 0;
  EXPECT_TRUE(d->turn_until([&] {
    if (m.ended() && ++ends > 0) d->backend->submit(m);
    return m.results.size() >= 60;
  }));
  EXPECT_GT(ends, 0) << "nothing overflowed";
  EXPECT_EQ(m.results.size(), 60U);
  for (const int fd : m.results) EXPECT_GE(fd, 0);
  for (const int fd : m.results) ::close(fd);
  d->backend->cancel(m);
  EXPECT_TRUE(d->turn_until([&] { return m.ended(); }));
}

TEST_F(uring_overflow, the_doorbell_still_rings_afterwards) {
  for (int round = 0; round < 5; ++round) {
    std::deque<pair_receiving> pairs(50);
    for (auto& p : pairs) d->backend->submit(p.r);
    d->turn();
    for (auto& p : pairs) say(p.c.peer, "x");
    for (int i = 0; i < 20; ++i) d->backend->wake();
    EXPECT_TRUE(d->turn_until([&] { return d->backend->in_flight() == 0; }));
    d->settle();
    for (int i = 0; i < 3; ++i) {
      d->backend->wake();
      const io::monotonic_time began = now();
      d->turn(began + 5'000 * milliseconds);
      EXPECT_LT(now() - began, 4'000 * milliseconds);
    }
  }
}

// ---- the doorbell

TEST_F(uring_backend, wakes_once_for_many_calls_and_again_for_the_next) {
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 10; ++i) d->backend->wake();
    const io::monotonic_time end = now() + 5'000 * milliseconds;
    d->turn(end);
    EXPECT_LT(now(), end);
  }
  d->settle();
  const io::monotonic_time end = now() + 5 * milliseconds;
  while (now() < end) d->turn(end);  // nothing rings without a wake, so this ends with the deadline
}

TEST_F(uring_backend, a_signal_handler_may_wake_it) {
  static io::backend* target;
  target = d->backend.get();
  struct sigaction before{};
  struct sigaction action{};
  action.sa_handler = [](int) { target->wake(); };
  ::sigaction(SIGUSR1, &action, &before);
  std::atomic<bool> woken{false};
  const pthread_t self = ::pthread_self();
  // Sends signals until one has arrived at the right moment. Each one suffices.
  std::thread caller([&] {
    while (!woken) {
      ::pthread_kill(self, SIGUSR1);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 50; ++i) d->turn(io::wait_forever);
  woken = true;
  caller.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(uring_backend, stops_the_program_when_another_thread_uses_it) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        driver mine(driver::small());
        std::thread([&] { mine.turn(now() + milliseconds); }).join();
      },
      "thread that is not its own");
}

TEST_F(uring_backend, a_forked_child_does_not_disturb_it) {
  pair_receiving p;
  d->backend->submit(p.r);
  d->turn();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  say(p.c.peer, "x");
  EXPECT_TRUE(d->turn_until([&] { return p.r.completions == 1; }));
}

// ---- cancelling

TEST_F(uring_backend, a_connect_that_blocks_a_thread_of_the_kernel_can_be_cancelled) {
  const unix_server server(0);
  auto connecting = [&] { return owned_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); };  // blocking
  const owned_fd first = connecting();
  ASSERT_EQ(::connect(first.get(), reinterpret_cast<const sockaddr*>(&server.address), server.size), 0);
  const owned_fd second = connecting();
  io::descriptor target = over(second);
  sockaddr_un address = server.address;
  one_shot r(opcode::connect, target, &address, server.size);
  for (int round = 1; round <= 30; ++round) {
    d->backend->submit(r);
    for (int i = 0; i < round * 20; ++i) d->turn();  // after many attempts a kernel thread has taken it, or is about to
    d->backend->cancel(r);
    ASSERT_TRUE(d->turn_until([&] { return r.completions == round; }));
    ASSERT_EQ(r.result, -ECANCELED);
  }
}

TEST_F(uring_backend, a_cancel_that_interrupts_nothing_is_repeated_with_pauses) {
  // Copies two gibibytes from memory: a kernel thread that copies does not check for signals.
  const owned_fd file(::memfd_create("much", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), off_t{2} << 30), 0);
  std::vector<char> room(std::size_t{2} << 20);
  const std::vector<iovec> pieces(1024, iovec{.iov_base = room.data(), .iov_len = room.size()});
  io::descriptor target = over(file);
  struct raw : io::raw_request {
    int completions = 0;
  };
  const auto ends_although_cancelled = [&](io::monotonic_time start) {
    raw r;
    r.code = opcode::raw;
    r.target = &target;
    uring::prepare(r.entry, uring::opcode::readv, file.get(), pieces.data(), static_cast<std::uint32_t>(pieces.size()),
                   0);
    r.entry.flags = uring::sqe_async;
    r.complete = [](io::completion& c) noexcept { ++static_cast<raw&>(static_cast<io::request&>(c)).completions; };
    d->backend->submit(r);
    d->turn(now() + start);  // for a kernel thread to begin
    d->backend->cancel(r);
    const io::monotonic_time begin = now();
    const auto calls = d->calls_of([&] { EXPECT_TRUE(d->turn_until([&] { return r.completions == 1; })); });
    EXPECT_LE(calls, 10 + 4 * static_cast<std::uint64_t>((now() - begin) / milliseconds));
    return r.result != -ECANCELED;  // otherwise no thread had begun, because the machine is busy
  };
  bool ended = false;
  for (io::monotonic_time start = milliseconds; !ended && start < 1'000 * milliseconds; start *= 2)
    ended = ends_although_cancelled(start);
  EXPECT_TRUE(ended) << "it was not to be interrupted";
}

// ---- the end

TEST_F(uring_backend, everything_that_is_in_flight_when_it_dies_is_free_again) {
  const int descriptors_before = open_descriptors() - 2;  // the ring and the doorbell will be closed
  const tcp_server server;
  const tcp_server busy;
  std::deque<pair_receiving> pairs(100);
  connection sending = unix_connection();
  contract::fill(sending.ours);
  const connection watched = unix_connection();
  io::descriptor listener = over(server.fd);
  io::descriptor busy_listener = over(busy.fd);
  io::descriptor sender = over(sending.ours);
  io::descriptor other = over(watched.ours);
  char byte = 'x';
  one_shot accept(opcode::accept, busy_listener);
  many accept_many(opcode::accept_many, listener);
  many receive_many(opcode::receive_many, other);
  one_shot send(opcode::send, sender, &byte, 1);
  one_shot writable(opcode::wait_writable, sender);
  one_shot late(opcode::wait_readable, sender);
  for (auto& p : pairs) d->backend->submit(p.r);
  for (io::request* r : {static_cast<io::request*>(&accept), static_cast<io::request*>(&accept_many),
                         static_cast<io::request*>(&receive_many), static_cast<io::request*>(&send),
                         static_cast<io::request*>(&writable)})
    d->backend->submit(*r);
  d->settle();
  // Some have just succeeded, some are being cancelled, and some have not reached the kernel.
  const owned_fd client = server.begin_connect();
  const owned_fd busy_client = busy.begin_connect();
  for (std::size_t i = 0; i < 20; ++i) say(pairs[i].c.peer, "x");
  for (std::size_t i = 10; i < 30; ++i) d->backend->cancel(pairs[i].r);
  d->backend->submit(late);
  d->backend.reset();
  for (auto& p : pairs) {
    EXPECT_EQ(p.r.where, io::phase::idle);
    EXPECT_EQ(p.d.in_flight, 0U);
    EXPECT_EQ(p.r.completions, 0);
  }
  for (const io::descriptor* each : {&listener, &busy_listener, &sender, &other}) EXPECT_EQ(each->in_flight, 0U);
  for (const io::request* r : {&accept, &send, &writable, &late}) EXPECT_EQ(r->where, io::phase::idle);
  EXPECT_TRUE(accept_many.ended());
  EXPECT_TRUE(receive_many.ended());
  pairs.clear();
  // Accepted connections without an owner have been closed. Only the servers, pairs and clients of this test are left.
  EXPECT_EQ(open_descriptors(), descriptors_before + 2 + 2 + 2 + 2);
}

}  // namespace
}  // namespace gyre::uring_test
