// tests/contract/io_send_test.cpp: opcode::send and opcode::send_message, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <csignal>

namespace gyre::contract {
namespace {

volatile std::sig_atomic_t pipe_signals = 0;

/// Either operation: a message with one buffer is equivalent to the buffer.
struct sending : one_shot {
  io::const_buffer piece;
  io::message whole;

  sending(io::opcode operation, io::descriptor& d, std::string_view bytes)
      : one_shot(operation, d), piece{bytes.data(), bytes.size()} {
    const bool as_message = operation == io::opcode::send_message;
    whole.buffers = &piece;
    whole.buffer_count = 1;
    address = as_message ? static_cast<void*>(&whole) : const_cast<char*>(bytes.data());
    length = as_message ? 0 : static_cast<std::uint32_t>(bytes.size());
  }
};

class io_send : public io_contract {
 protected:
  void SetUp() override {
    io_contract::SetUp();
    pipe_signals = 0;
    before_ = std::signal(SIGPIPE, [](int) { pipe_signals = pipe_signals + 1; });
  }
  void TearDown() override {
    std::signal(SIGPIPE, before_);
    EXPECT_EQ(pipe_signals, 0);
    io_contract::TearDown();
  }

  /// Sends these bytes once. Returns the result.
  int send(io::descriptor& d, std::string_view bytes) {
    sending r(GetParam().code, d, bytes);
    return perform(r);
  }

 private:
  void (*before_)(int) = nullptr;
};

TEST_P(io_send, sends_bytes_and_no_bytes) {
  endpoint ours(backend, tcp_connection());
  EXPECT_EQ(send(ours, "hello"), 5);
  EXPECT_EQ(send(ours, ""), 0);
  EXPECT_EQ(received_by(ours.peer), "hello");
}

TEST_P(io_send, is_short_when_the_socket_is_full_and_waits_when_it_stays_full) {
  endpoint ours(backend, tcp_connection());
  const std::string bytes = random_bytes(16 << 20, 41);
  const int first = send(ours, bytes);
  ASSERT_GT(first, 0);
  auto sent = static_cast<std::size_t>(first);
  ASSERT_LT(sent, bytes.size());
  sent += say(ours.socket(), std::string_view(bytes).substr(sent));  // now it is completely full
  sending second(GetParam().code, ours, std::string_view(bytes).substr(sent, 1000));
  begin_to_wait(second);
  std::string heard;
  while (!second.done()) {
    heard += received_by(ours.peer, 1 << 20);
    backend.turn(now() + milliseconds);
  }
  ASSERT_GT(second.result, 0);
  sent += static_cast<std::size_t>(second.result);
  const io::monotonic_time end = now() + patience;
  while (heard.size() < sent && now() < end) heard += received_by(ours.peer);
  EXPECT_TRUE(heard == bytes.substr(0, sent));
}

TEST_P(io_send, passes_a_long_stream_to_a_slow_reader) {
  endpoint ours(backend, unix_connection());
  const std::string bytes = random_bytes(3 << 20, 42);
  std::mt19937 random(43);
  std::string heard;
  for (std::size_t sent = 0; sent < bytes.size();) {
    sending r(GetParam().code, ours, std::string_view(bytes).substr(sent, 1 + random() % 300'000));
    submit(r);
    while (!r.done()) {
      backend.turn();
      heard += received_by(ours.peer, random() % 100'000);
    }
    ASSERT_GT(r.result, 0);
    sent += static_cast<std::size_t>(r.result);
  }
  heard += received_by(ours.peer);
  EXPECT_TRUE(heard == bytes);
}

TEST_P(io_send, reports_a_peer_that_is_gone_without_a_signal) {
  endpoint ours(backend, unix_connection());
  ours.peer.close();
  EXPECT_EQ(send(ours, "hello"), -EPIPE);
}

TEST_P(io_send, reports_a_reset_and_then_a_broken_pipe) {
  endpoint ours(backend, tcp_connection());
  reset(ours.peer);
  EXPECT_EQ(send(ours, "hello"), -ECONNRESET);
  EXPECT_EQ(send(ours, "hello"), -EPIPE);
}

TEST_P(io_send, reports_a_broken_pipe_after_a_shutdown_of_its_own_side) {
  endpoint ours(backend, tcp_connection());
  ::shutdown(ours.fd, SHUT_WR);
  EXPECT_EQ(send(ours, "hello"), -EPIPE);
}

TEST_P(io_send, ends_when_the_peer_leaves_while_it_waits) {
  full_endpoint by_tcp(backend, tcp_connection());
  sending first(GetParam().code, by_tcp, "more");
  begin_to_wait(first);
  reset(by_tcp.peer);
  EXPECT_EQ(result_of(first), -ECONNRESET);
  full_endpoint by_unix(backend, unix_connection());
  sending second(GetParam().code, by_unix, "more");
  begin_to_wait(second);
  by_unix.peer.close();
  EXPECT_EQ(result_of(second), -EPIPE);
}

TEST_P(io_send, reports_a_socket_that_is_not_connected_and_one_that_is_not_open) {
  endpoint ours(backend, new_socket(AF_INET));
  EXPECT_EQ(send(ours, "x"), -EPIPE);
  io::descriptor closed{.fd = -1};
  EXPECT_EQ(send(closed, "x"), -EBADF);
}

TEST_P(io_send, reports_memory_that_cannot_be_read) {
  endpoint ours(backend, tcp_connection());
  EXPECT_EQ(send(ours, {reinterpret_cast<const char*>(std::uintptr_t{16}), 100}), -EFAULT);
}

// ---- cancelling

TEST_P(io_send, cancelled_at_once_is_sent_or_not_sent) {
  endpoint ours(backend, tcp_connection());
  sending r(GetParam().code, ours, "hello");
  submit(r);
  const int result = stop(r);
  EXPECT_TRUE(result == 5 || result == -ECANCELED) << result;
  EXPECT_EQ(received_by(ours.peer), result == 5 ? "hello" : "");
}

TEST_P(io_send, cancelled_while_waiting_sends_nothing) {
  full_endpoint ours(backend, unix_connection());
  sending r(GetParam().code, ours, "never");
  begin_to_wait(r);
  EXPECT_EQ(stop(r), -ECANCELED);
  EXPECT_EQ(received_by(ours.peer).size(), ours.stuffed);
  EXPECT_EQ(send(ours, "next"), 4);
  EXPECT_EQ(received_by(ours.peer), "next");
}

TEST_P(io_send, a_cancel_that_comes_after_success_is_too_late) {
  endpoint ours(backend, tcp_connection());
  sending r(GetParam().code, ours, "hello");
  EXPECT_EQ(cancelled_after_success(r), 5);
}

INSTANTIATE_TEST_SUITE_P(backends, io_send,
                         ::testing::ValuesIn(every_backend_with({io::opcode::send, io::opcode::send_message})),
                         operation_name);

// ---- several buffers

class io_send_message : public io_contract {};

TEST_P(io_send_message, gathers_its_buffers) {
  endpoint ours(backend, unix_connection());
  const io::const_buffer pieces[] = {{"one ", 4}, {"", 0}, {nullptr, 0}, {"two ", 4}, {"three", 5}};
  io::message message;
  message.buffers = const_cast<io::const_buffer*>(pieces);
  message.buffer_count = std::size(pieces);
  one_shot r(io::opcode::send_message, ours, &message);
  EXPECT_EQ(perform(r), 13);
  EXPECT_EQ(received_by(ours.peer), "one two three");
}

INSTANTIATE_TEST_SUITE_P(backends, io_send_message, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
