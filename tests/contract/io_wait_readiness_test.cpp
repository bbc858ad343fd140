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
  /// Waits with a request of its own.
  int wait_readable(io::descriptor& d) {
    one_shot r = readable(d);
    return perform(r);
  }
  int wait_writable(io::descriptor& d) {
    one_shot r = writable(d);
    return perform(r);
  }
};

TEST_P(io_wait_readiness, readable_when_bytes_are_there_and_takes_none) {
  endpoint ours(backend, tcp_connection());
  say(ours.peer, "bytes");
  backend.settle();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(wait_readable(ours), 0);
  EXPECT_EQ(received_by(ours.socket()), "bytes");
}

TEST_P(io_wait_readiness, readable_when_bytes_come) {
  endpoint ours(backend, tcp_connection());
  one_shot r = readable(ours);
  begin_to_wait(r);
  say(ours.peer, "x");
  EXPECT_EQ(result_of(r), 0);
}

TEST_P(io_wait_readiness, waits_again_when_the_bytes_have_been_taken_by_somebody_else) {
  endpoint ours(backend, unix_connection());
  for (int i = 0; i < 20; ++i) {
    one_shot r = readable(ours);
    begin_to_wait(r);
    say(ours.peer, "x");
    EXPECT_EQ(result_of(r), 0);
    EXPECT_EQ(received_by(ours.socket()), "x");  // as a foreign library would, without informing the backend
  }
}

// Where the backend is polled: the kernel cannot report a write to an eventfd through another eventfd.
TEST_P(io_wait_readiness, readable_when_an_eventfd_is_written_again) {
  endpoint bell(backend, owned_fd(checked(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")));
  for (int i = 0; i < 3; ++i) {
    one_shot r = readable(bell);
    begin_to_wait(r);
    std::thread writer([&] { checked(::eventfd_write(bell.fd, 1), "eventfd_write"); });
    EXPECT_EQ(result_of(r), 0);
    writer.join();
    eventfd_t value = 0;
    EXPECT_EQ(::eventfd_read(bell.fd, &value), 0);
  }
}

TEST_P(io_wait_readiness, readable_at_the_end_of_the_stream_and_after_a_reset) {
  endpoint ours(backend, tcp_connection());
  one_shot first = readable(ours);
  submit(first);
  backend.turn();
  ::shutdown(ours.peer.get(), SHUT_WR);
  EXPECT_EQ(result_of(first), 0);
  reset(ours.peer);
  EXPECT_EQ(wait_readable(ours), 0);
}

TEST_P(io_wait_readiness, readable_when_a_connection_waits) {
  tcp_server server;
  endpoint ours(backend, owned_fd(::dup(server.fd.get())));
  one_shot r = readable(ours);
  submit(r);
  backend.turn();
  const owned_fd client = server.begin_connect();
  EXPECT_EQ(result_of(r), 0);
}

TEST_P(io_wait_readiness, readable_when_the_other_end_of_a_pipe_is_closed) {
  int ends[2];
  checked(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), "pipe2");
  endpoint output(backend, owned_fd(ends[0]));
  owned_fd input(ends[1]);
  one_shot end = readable(output);
  submit(end);
  backend.turn();
  input.close();
  EXPECT_EQ(result_of(end), 0);
}

TEST_P(io_wait_readiness, writable_at_once) {
  endpoint ours(backend, tcp_connection());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(wait_writable(ours), 0);
}

TEST_P(io_wait_readiness, writable_when_the_peer_has_read_or_is_gone) {
  for (const bool reads : {true, false}) {
    full_endpoint ours(backend, unix_connection());
    one_shot r = writable(ours);
    begin_to_wait(r);
    if (reads)
      received_by(ours.peer);
    else
      ours.peer.close();
    EXPECT_EQ(result_of(r), 0);
  }
}

// A peer that has finished sending still reads.
TEST_P(io_wait_readiness, writable_waits_for_room_when_the_peer_has_finished_sending) {
  for (const bool by_tcp : {true, false}) {
    connection c = by_tcp ? tcp_connection() : unix_connection();
    fill(c.ours);
    ::shutdown(c.peer.get(), SHUT_WR);
    endpoint ours(backend, std::move(c));
    one_shot r = writable(ours);
    submit(r);
    for (int i = 0; i < 3; ++i) backend.settle();
    EXPECT_FALSE(r.done());
    ASSERT_TRUE(backend.turn_until([&] {
      (void)received_by(ours.peer);
      return r.done();
    }));
    EXPECT_EQ(r.result, 0);
  }
}

TEST_P(io_wait_readiness, a_wait_for_room_is_cancelled_when_the_peer_has_finished_sending) {
  connection c = unix_connection();
  fill(c.ours);
  ::shutdown(c.peer.get(), SHUT_WR);
  endpoint ours(backend, std::move(c));
  for (int settled = 0; settled < 3; ++settled) {
    one_shot r = writable(ours);
    submit(r);
    for (int i = 0; i < settled; ++i) backend.settle();
    EXPECT_EQ(stop(r), -ECANCELED);
  }
}

TEST_P(io_wait_readiness, tells_both_directions_apart) {
  full_endpoint ours(backend, unix_connection());
  one_shot in = readable(ours);
  one_shot out = writable(ours);
  begin_to_wait(in);
  begin_to_wait(out);
  EXPECT_EQ(received_by(ours.peer).size(), ours.stuffed);
  EXPECT_EQ(result_of(out), 0);
  EXPECT_FALSE(in.done());
  say(ours.peer, "x");
  EXPECT_EQ(result_of(in), 0);
}

TEST_P(io_wait_readiness, a_regular_file_is_always_ready) {
  endpoint file(backend, owned_fd(checked(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "open")));
  EXPECT_EQ(wait_readable(file), 0);
  EXPECT_EQ(wait_writable(file), 0);
}

TEST_P(io_wait_readiness, reports_a_descriptor_that_is_not_open) {
  owned_fd socket = new_socket(AF_INET);
  io::descriptor closed{.fd = socket.get()};
  socket.close();
  EXPECT_EQ(wait_readable(closed), -EBADF);
  EXPECT_EQ(wait_writable(closed), -EBADF);
}

// ---- cancelling

TEST_P(io_wait_readiness, cancelled_at_once_or_while_it_waits_leaves_the_readiness_to_the_next) {
  full_endpoint ours(backend, unix_connection());
  for (const io::opcode code : {io::opcode::wait_readable, io::opcode::wait_writable}) {
    one_shot at_once(code, ours);
    submit(at_once);
    EXPECT_EQ(stop(at_once), -ECANCELED);
    one_shot waits(code, ours);
    begin_to_wait(waits);
    EXPECT_EQ(stop(waits), -ECANCELED);
  }
  EXPECT_EQ(received_by(ours.peer).size(), ours.stuffed);
  say(ours.peer, "x");
  backend.settle();
  EXPECT_EQ(wait_readable(ours), 0);
  EXPECT_EQ(wait_writable(ours), 0);
}

TEST_P(io_wait_readiness, a_cancel_that_comes_after_success_is_too_late) {
  endpoint ours(backend, tcp_connection());
  one_shot r = readable(ours);
  say(ours.peer, "x");
  EXPECT_EQ(cancelled_after_success(r), 0);
}

INSTANTIATE_TEST_SUITE_P(backends, io_wait_readiness, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
