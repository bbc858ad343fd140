// tests/io/uring_backend_test.cpp: features that only a ring has: its queues, its doorbell, its calls, its end.
#include "tests/io/uring_fixture.hpp"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
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

// ---- system calls

TEST_F(uring_backend, any_number_of_submissions_and_the_wait_are_one_system_call) {
  std::deque<byte_receiver> pairs = receivers(30);
  EXPECT_EQ(backend.calls_of([&] {
    for (auto& p : pairs) submit(p);
    backend.turn();
  }),
            1U);
  EXPECT_EQ(backend->in_flight(), 30U);
  for (auto& p : pairs) say(p.peer, "x");
  EXPECT_EQ(backend.calls_of([&] { backend.turn(io::wait_forever); }), 1U);
  EXPECT_TRUE(turn_until_idle());
}

TEST_F(uring_backend, a_look_without_anything_to_do_is_a_system_call_every_eighth_time) {
  backend.settle();
  EXPECT_EQ(backend.calls_of([&] {
    for (int i = 0; i < 80; ++i) backend.turn();
  }),
            10U);
}

TEST_F(uring_backend, a_look_asks_the_kernel_when_it_has_something) {
  byte_receiver p(backend);
  submit(p);
  backend.settle();
  say(p.peer, "x");  // now the queue shows that completions wait to be collected
  EXPECT_EQ(backend.calls_of([&] { backend.turn(); }), 1U);
  EXPECT_EQ(p.completions, 1);
}

TEST_F(uring_backend, a_wait_with_something_to_hand_out_does_not_sleep) {
  receiver m(backend, opcode::receive_many, unix_connection());
  m.submit();
  backend.settle();
  m.cancel();
  backend.turn(io::wait_forever);
  EXPECT_TRUE(backend.turn_until([&] { return m.ended(); }));
}

TEST_F(uring_backend, more_submissions_than_the_queue_holds_are_all_performed) {
  begin({.submission_entries = 4, .completion_entries = 1024, .buffer_count = 16, .buffer_size = 256});
  std::deque<byte_receiver> pairs = receivers(200);
  for (auto& p : pairs) {
    say(p.peer, "x");
    submit(p);
  }
  EXPECT_TRUE(turn_until_idle());
  for (auto& p : pairs) EXPECT_EQ(p.result, 1);
}

// ---- a completion queue that is too small

class uring_overflow : public uring_backend {
 protected:
  void SetUp() override {
    uring_backend::SetUp();
    if (backend) begin({.submission_entries = 4, .completion_entries = 8, .buffer_count = 64, .buffer_size = 256});
  }
};

TEST_F(uring_overflow, loses_no_completion) {
  std::deque<byte_receiver> pairs = receivers(300);
  for (auto& p : pairs) submit(p);
  backend.turn();
  for (auto& p : pairs) say(p.peer, "x");
  EXPECT_TRUE(turn_until_idle());
  for (auto& p : pairs) EXPECT_EQ(p.completions, 1);
}

TEST_F(uring_overflow, a_multishot_that_ends_with_it_goes_on_when_it_is_submitted_again) {
  const tcp_server server;
  std::vector<owned_fd> clients;
  for (int i = 0; i < 60; ++i) clients.push_back(server.begin_connect());
  endpoint target(backend, owned_fd(::dup(server.fd.get())));
  many m(backend, opcode::accept_many, target);
  m.submit();
  int ends = 0;
  EXPECT_TRUE(backend.turn_until([&] {
    if (m.ended() && ++ends > 0) m.submit();
    return m.results.size() >= 60;
  }));
  EXPECT_GT(ends, 0) << "nothing overflowed";
  EXPECT_EQ(m.results.size(), 60U);
  m.cancel();
  EXPECT_TRUE(backend.turn_until([&] { return m.ended(); }));
}

TEST_F(uring_overflow, the_doorbell_still_rings_afterwards) {
  for (int round = 0; round < 5; ++round) {
    std::deque<byte_receiver> pairs = receivers(50);
    for (auto& p : pairs) submit(p);
    backend.turn();
    for (auto& p : pairs) say(p.peer, "x");
    for (int i = 0; i < 20; ++i) backend->wake();
    EXPECT_TRUE(turn_until_idle());
    backend.settle();
    for (int i = 0; i < 3; ++i) {
      backend->wake();
      const io::monotonic_time began = now();
      backend.turn(began + 5'000 * milliseconds);
      EXPECT_LT(now() - began, 4'000 * milliseconds);
    }
  }
}

// ---- the doorbell

TEST_F(uring_backend, wakes_once_for_many_calls_and_again_for_the_next) {
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 10; ++i) backend->wake();
    const io::monotonic_time end = now() + 5'000 * milliseconds;
    backend.turn(end);
    EXPECT_LT(now(), end);
  }
  backend.settle();
  const io::monotonic_time end = now() + 5 * milliseconds;
  while (now() < end) backend.turn(end);  // nothing rings without a wake, so this ends with the deadline
}

TEST_F(uring_backend, a_signal_handler_may_wake_it) {
  static io::backend* target;
  target = &*backend;
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
  for (int i = 0; i < 50; ++i) backend.turn(io::wait_forever);
  woken = true;
  caller.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(uring_backend, stops_the_program_when_another_thread_uses_it) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        turning_backend mine({.kind = io::backend_kind::io_uring});
        std::thread([&] { mine.turn(now() + milliseconds); }).join();
      },
      "thread that is not its own");
}

TEST_F(uring_backend, a_forked_child_does_not_disturb_it) {
  byte_receiver p(backend);
  submit(p);
  backend.turn();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  say(p.peer, "x");
  EXPECT_TRUE(backend.turn_until([&] { return p.completions == 1; }));
}

// ---- cancelling

TEST_F(uring_backend, a_connect_that_blocks_a_thread_of_the_kernel_can_be_cancelled) {
  const unix_server server(0);
  auto connecting = [&] { return owned_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); };  // blocking
  const owned_fd first = connecting();
  ASSERT_EQ(::connect(first.get(), reinterpret_cast<const sockaddr*>(&server.address), server.size), 0);
  endpoint target(backend, connecting());
  sockaddr_un address = server.address;
  one_shot r(opcode::connect, target, &address, server.size);
  for (int round = 1; round <= 30; ++round) {
    submit(r);
    for (int i = 0; i < round * 20; ++i)
      backend.turn();  // after many attempts a kernel thread has taken it, or is about to
    backend->cancel(r);
    ASSERT_TRUE(backend.turn_until([&] { return r.completions == round; }));
    ASSERT_EQ(r.result, -ECANCELED);
  }
}

TEST_F(uring_backend, a_cancel_that_interrupts_nothing_is_repeated_with_pauses) {
  // Copies two gibibytes from memory: a kernel thread that copies does not check for signals.
  const owned_fd file(::memfd_create("much", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), off_t{2} << 30), 0);
  std::vector<char> room(std::size_t{2} << 20);
  const std::vector<iovec> pieces(1024, iovec{.iov_base = room.data(), .iov_len = room.size()});
  io::descriptor target{.fd = file.get()};
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
    backend->submit(r);
    backend.turn(now() + start);  // for a kernel thread to begin
    backend->cancel(r);
    const io::monotonic_time begin = now();
    const auto calls = backend.calls_of([&] { EXPECT_TRUE(backend.turn_until([&] { return r.completions == 1; })); });
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
  std::deque<byte_receiver> pairs = receivers(100);
  connection sending = unix_connection();
  contract::fill(sending.ours);
  const connection watched = unix_connection();
  io::descriptor listener{.fd = server.fd.get()};
  io::descriptor busy_listener{.fd = busy.fd.get()};
  io::descriptor sender{.fd = sending.ours.get()};
  io::descriptor other{.fd = watched.ours.get()};
  char byte = 'x';
  one_shot accept(opcode::accept, busy_listener);
  many accept_many(backend, opcode::accept_many, listener);
  many receive_many(backend, opcode::receive_many, other);
  one_shot send(opcode::send, sender, &byte, 1);
  one_shot writable(opcode::wait_writable, sender);
  one_shot late(opcode::wait_readable, sender);
  for (auto& p : pairs) submit(p);
  for (one_shot* r : {&accept, &send, &writable}) submit(*r);
  accept_many.submit();
  receive_many.submit();
  backend.settle();
  // Some have just succeeded, some are being cancelled, and some have not reached the kernel.
  const owned_fd client = server.begin_connect();
  const owned_fd busy_client = busy.begin_connect();
  for (std::size_t i = 0; i < 20; ++i) say(pairs[i].peer, "x");
  for (std::size_t i = 10; i < 30; ++i) backend->cancel(pairs[i]);
  submit(late);
  backend.destroy();
  for (auto& p : pairs) {
    EXPECT_EQ(p.where, io::phase::idle);
    EXPECT_EQ(p.in_flight, 0U);
    EXPECT_EQ(p.completions, 0);
  }
  for (const io::descriptor* each : {&listener, &busy_listener, &sender, &other}) EXPECT_EQ(each->in_flight, 0U);
  for (const one_shot* r : {&accept, &send, &writable, &late}) EXPECT_EQ(r->where, io::phase::idle);
  EXPECT_TRUE(accept_many.ended());
  EXPECT_TRUE(receive_many.ended());
  pairs.clear();
  // Accepted connections without an owner have been closed. Only the servers, pairs and clients of this test are left.
  EXPECT_EQ(open_descriptors(), descriptors_before + 2 + 2 + 2 + 2);
}

}  // namespace
}  // namespace gyre::uring_test
