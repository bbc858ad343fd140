// tests/contract/io_wait_readiness_test.cpp: opcode::wait_readable and opcode::wait_writable, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <sys/eventfd.h>

#include <thread>

namespace gyre::contract {
namespace {

class io_wait_readiness : public io_contract {
 protected:
  static one_shot readable(io::descriptor& d) { return {io::opcode::wait_readable, d}; }
  static one_shot writable(io::descriptor& d) { return {io::opcode::wait_writable, d}; }
};

TEST_P(io_wait_readiness, readable_when_bytes_are_there_and_takes_none) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  say(c.peer, "bytes");
  backend.settle();
  for (int i = 0; i < 3; ++i) {
    one_shot r = readable(ours);
    EXPECT_EQ(perform(r), 0);
  }
  EXPECT_EQ(received_by(ours.socket()), "bytes");
}

TEST_P(io_wait_readiness, readable_when_bytes_come) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r = readable(ours);
  submit(r);
  backend.settle();
  EXPECT_FALSE(r.done());
  say(c.peer, "x");
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, 0);
}

TEST_P(io_wait_readiness, waits_again_when_the_bytes_have_been_taken_by_somebody_else) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  for (int i = 0; i < 20; ++i) {
    one_shot r = readable(ours);
    submit(r);
    backend.settle();
    ASSERT_FALSE(r.done());
    say(c.peer, "x");
    ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
    EXPECT_EQ(received_by(ours.socket()), "x");  // as a foreign library would, without informing the backend
  }
}

// Where the backend is polled: the kernel cannot report a write to an eventfd through another eventfd.
TEST_P(io_wait_readiness, readable_when_an_eventfd_is_written_again) {
  endpoint bell(backend, owned_fd(checked(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")));
  for (int i = 0; i < 3; ++i) {
    one_shot r = readable(bell);
    submit(r);
    backend.turn();
    std::thread writer([&] { checked(::eventfd_write(bell.fd, 1), "eventfd_write"); });
    EXPECT_TRUE(backend.turn_until([&] { return r.done(); }));
    writer.join();
    eventfd_t value = 0;
    EXPECT_EQ(::eventfd_read(bell.fd, &value), 0);
  }
}

TEST_P(io_wait_readiness, readable_at_the_end_of_the_stream_and_after_a_reset) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot first = readable(ours);
  submit(first);
  backend.turn();
  ::shutdown(c.peer.get(), SHUT_WR);
  ASSERT_TRUE(backend.turn_until([&] { return first.done(); }));
  EXPECT_EQ(first.result, 0);
  reset(c.peer);
  one_shot second = readable(ours);
  EXPECT_EQ(perform(second), 0);
}

TEST_P(io_wait_readiness, readable_when_a_connection_waits) {
  tcp_server server;
  endpoint ours(backend, owned_fd(::dup(server.fd.get())));
  one_shot r = readable(ours);
  submit(r);
  backend.turn();
  const owned_fd client = server.begin_connect();
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, 0);
}

TEST_P(io_wait_readiness, writable_at_once) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  for (int i = 0; i < 3; ++i) {
    one_shot r = writable(ours);
    EXPECT_EQ(perform(r), 0);
  }
}

TEST_P(io_wait_readiness, writable_when_the_peer_has_read) {
  connection c = unix_connection();
  fill(c.ours);
  endpoint ours(backend, std::move(c.ours));
  one_shot r = writable(ours);
  submit(r);
  backend.settle();
  EXPECT_FALSE(r.done());
  received_by(c.peer);
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, 0);
}

TEST_P(io_wait_readiness, writable_when_the_peer_is_gone) {
  connection c = unix_connection();
  fill(c.ours);
  endpoint ours(backend, std::move(c.ours));
  one_shot r = writable(ours);
  submit(r);
  backend.settle();
  EXPECT_FALSE(r.done());
  c.peer.close();
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, 0);
}

// A peer that has finished sending still reads.
TEST_P(io_wait_readiness, writable_waits_for_room_when_the_peer_has_finished_sending) {
  for (const bool by_tcp : {true, false}) {
    connection c = by_tcp ? tcp_connection() : unix_connection();
    fill(c.ours);
    ::shutdown(c.peer.get(), SHUT_WR);
    endpoint ours(backend, std::move(c.ours));
    one_shot r = writable(ours);
    submit(r);
    for (int i = 0; i < 3; ++i) backend.settle();
    EXPECT_FALSE(r.done());
    ASSERT_TRUE(backend.turn_until([&] {
      (void)received_by(c.peer);
      return r.done();
    }));
    EXPECT_EQ(r.result, 0);
  }
}

TEST_P(io_wait_readiness, a_wait_for_room_is_cancelled_when_the_peer_has_finished_sending) {
  connection c = unix_connection();
  fill(c.ours);
  ::shutdown(c.peer.get(), SHUT_WR);
  endpoint ours(backend, std::move(c.ours));
  for (int settled = 0; settled < 3; ++settled) {
    one_shot r = writable(ours);
    submit(r);
    for (int i = 0; i < settled; ++i) backend.settle();
    backend->cancel(r);
    ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
    EXPECT_EQ(r.result, -ECANCELED);
  }
}

TEST_P(io_wait_readiness, both_directions_at_once) {
  connection c = unix_connection();
  const std::size_t stuffed = fill(c.ours);
  endpoint ours(backend, std::move(c.ours));
  one_shot in = readable(ours);
  one_shot out = writable(ours);
  submit(in);
  submit(out);
  backend.settle();
  EXPECT_FALSE(in.done() || out.done());
  EXPECT_EQ(received_by(c.peer).size(), stuffed);
  ASSERT_TRUE(backend.turn_until([&] { return out.done(); }));
  EXPECT_FALSE(in.done());
  say(c.peer, "x");
  ASSERT_TRUE(backend.turn_until([&] { return in.done(); }));
}

TEST_P(io_wait_readiness, works_on_what_is_no_socket) {
  endpoint event(backend, owned_fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)));
  one_shot r = readable(event);
  submit(r);
  backend.settle();
  EXPECT_FALSE(r.done());
  const std::uint64_t one = 1;
  EXPECT_EQ(::write(event.fd, &one, sizeof(one)), 8);
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, 0);

  int ends[2];
  checked(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), "pipe2");
  endpoint output(backend, owned_fd(ends[0]));
  owned_fd input(ends[1]);
  one_shot end = readable(output);
  submit(end);
  backend.turn();
  input.close();
  ASSERT_TRUE(backend.turn_until([&] { return end.done(); }));
  EXPECT_EQ(end.result, 0);
}

TEST_P(io_wait_readiness, a_regular_file_is_always_ready) {
  endpoint file(backend, owned_fd(checked(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "open")));
  one_shot r = readable(file);
  EXPECT_EQ(perform(r), 0);
  one_shot w = writable(file);
  EXPECT_EQ(perform(w), 0);
}

TEST_P(io_wait_readiness, reports_what_is_not_open) {
  owned_fd socket = new_socket(AF_INET);
  io::descriptor closed{.fd = socket.get()};
  socket.close();
  one_shot r = readable(closed);
  EXPECT_EQ(perform(r), -EBADF);
  one_shot w = writable(closed);
  EXPECT_EQ(perform(w), -EBADF);
}

// ---- cancelling

TEST_P(io_wait_readiness, cancelled_at_once) {
  connection c = unix_connection();
  fill(c.ours);
  endpoint ours(backend, std::move(c.ours));
  for (const io::opcode code : {io::opcode::wait_readable, io::opcode::wait_writable}) {
    one_shot r(code, ours);
    submit(r);
    backend->cancel(r);
    EXPECT_EQ(r.completions, 0) << "completed inside cancel";
    ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
    EXPECT_EQ(r.result, -ECANCELED);
  }
}

TEST_P(io_wait_readiness, cancelled_while_waiting) {
  connection c = unix_connection();
  const std::size_t stuffed = fill(c.ours);
  endpoint ours(backend, std::move(c.ours));
  for (const io::opcode code : {io::opcode::wait_readable, io::opcode::wait_writable}) {
    one_shot r(code, ours);
    submit(r);
    backend.settle();
    backend->cancel(r);
    ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
    EXPECT_EQ(r.result, -ECANCELED);
  }
  // The next request sees what became ready in between.
  EXPECT_EQ(received_by(c.peer).size(), stuffed);
  say(c.peer, "x");
  backend.settle();
  one_shot in = readable(ours);
  one_shot out = writable(ours);
  EXPECT_EQ(perform(in), 0);
  EXPECT_EQ(perform(out), 0);
}

TEST_P(io_wait_readiness, a_cancel_that_comes_after_success_is_too_late) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r = readable(ours);
  submit(r);
  say(c.peer, "x");
  ASSERT_TRUE(backend.collect_something());
  backend->cancel(r);
  backend.run_ready();
  backend.settle();
  EXPECT_EQ(r.completions, 1);
  EXPECT_EQ(r.result, 0);
}

INSTANTIATE_TEST_SUITE_P(backends, io_wait_readiness, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
