// tests/io/attempt_test.cpp: one non-blocking attempt of each operation, and what it shows about readiness.
#include "tests/contract/io_contract_fixture.hpp"
#include "tests/contract/sockets.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gyre::io {
namespace {

using namespace gyre::contract;

struct attempted : request {
  attempted(opcode operation, descriptor& d, const void* data = nullptr, std::size_t size = 0) {
    code = operation;
    target = &d;
    address = const_cast<void*>(data);
    length = static_cast<std::uint32_t>(size);
  }
};

class attempt_test : public ::testing::Test {
 protected:
  turning_backend performer{backend_kind::epoll};
  connection c = unix_connection();
  descriptor d{.fd = c.ours.get(), .readable = true};
  char buffer[8];
};

TEST_F(attempt_test, knows_the_direction_of_every_operation) {
  for (const opcode code :
       {opcode::accept, opcode::accept_many, opcode::receive_into, opcode::receive_many, opcode::wait_readable})
    EXPECT_TRUE(reads(code));
  for (const opcode code : {opcode::connect, opcode::send, opcode::send_message, opcode::wait_writable})
    EXPECT_FALSE(reads(code));
}

TEST_F(attempt_test, a_full_buffer_leaves_the_descriptor_readable) {
  say(c.peer, "12345678");
  attempted r(opcode::receive_into, d, buffer, sizeof(buffer));
  EXPECT_TRUE(performer->attempt(r));
  EXPECT_EQ(r.result, 8);
  EXPECT_TRUE(d.readable);
  EXPECT_FALSE(performer->attempt(r));
  EXPECT_FALSE(d.readable);
}

TEST_F(attempt_test, a_short_receive_tells_that_nothing_is_left) {
  say(c.peer, "123");
  attempted r(opcode::receive_into, d, buffer, sizeof(buffer));
  EXPECT_TRUE(performer->attempt(r));
  EXPECT_EQ(r.result, 3);
  EXPECT_FALSE(d.readable);
}

TEST_F(attempt_test, a_short_receive_after_a_hang_up_tells_nothing) {
  say(c.peer, "123");
  c.peer.close();
  d.hangup = true;
  attempted r(opcode::receive_into, d, buffer, sizeof(buffer));
  EXPECT_TRUE(performer->attempt(r));
  EXPECT_EQ(r.result, 3);
  EXPECT_TRUE(d.readable);
  EXPECT_TRUE(performer->attempt(r));
  EXPECT_EQ(r.result, 0);
  EXPECT_TRUE(d.readable);
}

TEST_F(attempt_test, never_touches_where_and_never_completes) {
  attempted r(opcode::receive_into, d, buffer, sizeof(buffer));
  r.complete = [](completion&) noexcept { FAIL(); };
  EXPECT_FALSE(performer->attempt(r));
  say(c.peer, "x");
  EXPECT_TRUE(performer->attempt(r));
  EXPECT_EQ(r.where, phase::idle);
  EXPECT_EQ(d.in_flight, 0U);
}

TEST_F(attempt_test, a_short_send_and_a_full_socket_clear_writable) {
  const std::string bytes = random_bytes(4 << 20, 71);
  attempted r(opcode::send, d, bytes.data(), bytes.size());
  EXPECT_TRUE(performer->attempt(r));
  EXPECT_GT(r.result, 0);
  EXPECT_LT(static_cast<std::size_t>(r.result), bytes.size());
  EXPECT_FALSE(d.writable);
  fill(c.ours);
  d.writable = true;
  EXPECT_FALSE(performer->attempt(r));
  EXPECT_FALSE(d.writable);
}

TEST_F(attempt_test, a_message_is_gathered_and_short_as_a_whole) {
  const std::string big = random_bytes(4 << 20, 72);
  const const_buffer pieces[] = {{"head", 4}, {big.data(), big.size()}};
  message m;
  m.buffers = const_cast<const_buffer*>(pieces);
  m.buffer_count = 1;
  attempted r(opcode::send_message, d, &m);
  EXPECT_TRUE(performer->attempt(r));
  EXPECT_EQ(r.result, 4);
  EXPECT_TRUE(d.writable);
  m.buffer_count = 2;
  EXPECT_TRUE(performer->attempt(r));
  EXPECT_GT(r.result, 4);
  EXPECT_FALSE(d.writable);
}

TEST_F(attempt_test, a_broken_pipe_is_a_result_and_no_signal) {
  c.peer.close();
  attempted r(opcode::send, d, "x", 1);
  EXPECT_TRUE(performer->attempt(r));
  EXPECT_EQ(r.result, -EPIPE);
}

TEST_F(attempt_test, readiness_is_looked_at_and_not_used_up) {
  attempted in(opcode::wait_readable, d);
  EXPECT_FALSE(performer->attempt(in));
  EXPECT_FALSE(d.readable);
  say(c.peer, "x");
  EXPECT_TRUE(performer->attempt(in));
  EXPECT_EQ(in.result, 0);
  EXPECT_EQ(received_by(c.ours), "x");
  attempted out(opcode::wait_writable, d);
  EXPECT_TRUE(performer->attempt(out));
  fill(c.ours);
  EXPECT_FALSE(performer->attempt(out));
  EXPECT_FALSE(d.writable);
}

TEST_F(attempt_test, a_descriptor_that_is_not_open_is_an_error_for_every_operation) {
  descriptor closed{.fd = -1};
  const int number = c.ours.get();
  c.ours.close();
  descriptor gone{.fd = number};
  message m;
  const sockaddr_in nowhere{};
  for (descriptor* each : {&closed, &gone})
    for (const opcode code : {opcode::accept, opcode::connect, opcode::receive_into, opcode::send, opcode::send_message,
                              opcode::wait_readable, opcode::wait_writable}) {
      const void* const data = code == opcode::send_message ? static_cast<const void*>(&m)
                               : code == opcode::connect    ? static_cast<const void*>(&nowhere)
                                                            : buffer;
      attempted r(code, *each, data, code == opcode::connect ? sizeof(nowhere) : sizeof(buffer));
      EXPECT_TRUE(performer->attempt(r)) << static_cast<int>(code);
      EXPECT_EQ(r.result, -EBADF) << static_cast<int>(code);
    }
}

TEST_F(attempt_test, a_multishot_cannot_be_tried) {
  for (const opcode code : {opcode::accept_many, opcode::receive_many}) {
    attempted r(code, d);
    EXPECT_TRUE(performer->attempt(r));
    EXPECT_EQ(r.result, -EOPNOTSUPP);
  }
}

TEST(attempt_accept, gives_non_blocking_close_on_exec_descriptors) {
  turning_backend performer{backend_kind::epoll};
  const tcp_server server;
  descriptor d{.fd = server.fd.get(), .readable = true};
  attempted r(opcode::accept, d);
  EXPECT_FALSE(performer->attempt(r));
  EXPECT_FALSE(d.readable);
  const owned_fd client = server.begin_connect();
  ASSERT_TRUE(performer->attempt(r));
  const owned_fd accepted(r.result);
  EXPECT_NE(::fcntl(accepted.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(accepted.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(attempt_connect, begins_and_can_be_tried_again) {
  turning_backend performer{backend_kind::epoll};
  const tcp_server server;
  const owned_fd socket = new_socket(AF_INET);
  descriptor d{.fd = socket.get()};
  attempted r(opcode::connect, d, &server.address, sizeof(server.address));
  int tries = 0;
  while (!performer->attempt(r)) ASSERT_LT(++tries, 1'000'000);
  EXPECT_EQ(r.result, 0);
  EXPECT_TRUE(performer->attempt(r));
  EXPECT_EQ(r.result, -EISCONN);
}

TEST(attempt_connect, has_to_wait_for_room_in_a_unix_backlog) {
  turning_backend performer{backend_kind::epoll};
  const unix_server server(0);
  const owned_fd first = new_socket(AF_UNIX);
  descriptor one{.fd = first.get()};
  attempted r1(opcode::connect, one, &server.address, server.size);
  EXPECT_TRUE(performer->attempt(r1));
  EXPECT_EQ(r1.result, 0);
  const owned_fd second = new_socket(AF_UNIX);
  descriptor two{.fd = second.get()};
  attempted r2(opcode::connect, two, &server.address, server.size);
  EXPECT_FALSE(performer->attempt(r2));
}

}  // namespace
}  // namespace gyre::io
