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

  sending(bool as_message, io::descriptor& d, std::string_view bytes)
      : one_shot(as_message ? io::opcode::send_message : io::opcode::send, d), piece{bytes.data(), bytes.size()} {
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

 private:
  void (*before_)(int) = nullptr;
};

TEST_P(io_send, sends) {
  for (const bool as_message : {false, true}) {
    connection c = tcp_connection();
    endpoint ours(backend, std::move(c.ours));
    sending r(as_message, ours, "hello");
    EXPECT_EQ(perform(r), 5);
    EXPECT_EQ(received_by(c.peer), "hello");
  }
}

TEST_P(io_send, sends_nothing) {
  for (const bool as_message : {false, true}) {
    connection c = tcp_connection();
    endpoint ours(backend, std::move(c.ours));
    sending r(as_message, ours, "");
    EXPECT_EQ(perform(r), 0);
  }
}

TEST_P(io_send, gathers_the_buffers_of_a_message) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  const io::const_buffer pieces[] = {{"one ", 4}, {"", 0}, {nullptr, 0}, {"two ", 4}, {"three", 5}};
  io::message message;
  message.buffers = const_cast<io::const_buffer*>(pieces);
  message.buffer_count = std::size(pieces);
  one_shot r(io::opcode::send_message, ours, &message);
  EXPECT_EQ(perform(r), 13);
  EXPECT_EQ(received_by(c.peer), "one two three");
}

TEST_P(io_send, is_short_when_the_socket_is_full_and_waits_when_it_stays_full) {
  for (const bool as_message : {false, true}) {
    connection c = tcp_connection();
    endpoint ours(backend, std::move(c.ours));
    const std::string bytes = random_bytes(16 << 20, 41);
    std::size_t sent = 0;
    sending first(as_message, ours, bytes);
    ASSERT_GT(perform(first), 0);
    sent = static_cast<std::size_t>(first.result);
    ASSERT_LT(sent, bytes.size());
    sent += say(ours.socket(), std::string_view(bytes).substr(sent));  // now it is completely full
    sending second(as_message, ours, std::string_view(bytes).substr(sent, 1000));
    submit(second);
    backend.settle();
    EXPECT_FALSE(second.done());
    std::string heard;
    while (!second.done()) {
      heard += received_by(c.peer, 1 << 20);
      backend.turn(now() + milliseconds);
    }
    ASSERT_GT(second.result, 0);
    sent += static_cast<std::size_t>(second.result);
    const io::monotonic_time end = now() + patience;
    while (heard.size() < sent && now() < end) heard += received_by(c.peer);
    EXPECT_TRUE(heard == bytes.substr(0, sent));
  }
}

TEST_P(io_send, passes_a_long_stream_to_a_slow_reader) {
  for (const bool as_message : {false, true}) {
    connection c = unix_connection();
    endpoint ours(backend, std::move(c.ours));
    const std::string bytes = random_bytes(3 << 20, 42);
    std::mt19937 random(43);
    std::string heard;
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      sending r(as_message, ours, std::string_view(bytes).substr(sent, 1 + random() % 300'000));
      submit(r);
      while (!r.done()) {
        backend.turn();
        heard += received_by(c.peer, random() % 100'000);
      }
      ASSERT_GT(r.result, 0);
      sent += static_cast<std::size_t>(r.result);
    }
    heard += received_by(c.peer);
    EXPECT_TRUE(heard == bytes);
  }
}

TEST_P(io_send, reports_a_peer_that_is_gone_without_a_signal) {
  for (const bool as_message : {false, true}) {
    connection c = unix_connection();
    endpoint ours(backend, std::move(c.ours));
    c.peer.close();
    sending r(as_message, ours, "hello");
    EXPECT_EQ(perform(r), -EPIPE);
  }
}

TEST_P(io_send, reports_a_reset_and_then_a_broken_pipe) {
  for (const bool as_message : {false, true}) {
    connection c = tcp_connection();
    endpoint ours(backend, std::move(c.ours));
    reset(c.peer);
    sending first(as_message, ours, "hello");
    EXPECT_EQ(perform(first), -ECONNRESET);
    sending second(as_message, ours, "hello");
    EXPECT_EQ(perform(second), -EPIPE);
  }
}

TEST_P(io_send, reports_a_broken_pipe_after_a_shutdown_of_its_own_side) {
  for (const bool as_message : {false, true}) {
    connection c = tcp_connection();
    endpoint ours(backend, std::move(c.ours));
    ::shutdown(ours.fd, SHUT_WR);
    sending r(as_message, ours, "hello");
    EXPECT_EQ(perform(r), -EPIPE);
  }
}

TEST_P(io_send, ends_when_the_peer_resets_while_it_waits) {
  for (const bool as_message : {false, true}) {
    connection c = tcp_connection();
    fill(c.ours);
    endpoint ours(backend, std::move(c.ours));
    sending r(as_message, ours, "more");
    submit(r);
    backend.settle();
    ASSERT_FALSE(r.done());
    reset(c.peer);
    ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
    EXPECT_EQ(r.result, -ECONNRESET);
  }
}

TEST_P(io_send, ends_when_a_unix_peer_closes_while_it_waits) {
  for (const bool as_message : {false, true}) {
    connection c = unix_connection();
    fill(c.ours);
    endpoint ours(backend, std::move(c.ours));
    sending r(as_message, ours, "more");
    submit(r);
    backend.settle();
    ASSERT_FALSE(r.done());
    c.peer.close();
    ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
    EXPECT_EQ(r.result, -EPIPE);
  }
}

TEST_P(io_send, reports_what_is_not_connected_and_what_is_not_open) {
  for (const bool as_message : {false, true}) {
    endpoint ours(backend, new_socket(AF_INET));
    sending first(as_message, ours, "x");
    EXPECT_EQ(perform(first), -EPIPE);
    io::descriptor closed{.fd = -1};
    sending second(as_message, closed, "x");
    EXPECT_EQ(perform(second), -EBADF);
  }
}

TEST_P(io_send, reports_memory_that_cannot_be_read) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r(io::opcode::send, ours, reinterpret_cast<const void*>(std::uintptr_t{16}), 100);
  EXPECT_EQ(perform(r), -EFAULT);
}

// ---- cancelling

TEST_P(io_send, cancelled_at_once_is_sent_or_not_sent) {
  for (const bool as_message : {false, true}) {
    connection c = tcp_connection();
    endpoint ours(backend, std::move(c.ours));
    sending r(as_message, ours, "hello");
    submit(r);
    backend->cancel(r);
    ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
    EXPECT_TRUE(r.result == 5 || r.result == -ECANCELED) << r.result;
    EXPECT_EQ(received_by(c.peer), r.result == 5 ? "hello" : "");
  }
}

TEST_P(io_send, cancelled_while_waiting_sends_nothing) {
  for (const bool as_message : {false, true}) {
    connection c = unix_connection();
    const std::size_t stuffed = fill(c.ours);
    endpoint ours(backend, std::move(c.ours));
    sending r(as_message, ours, "never");
    submit(r);
    backend.settle();
    backend->cancel(r);
    EXPECT_EQ(r.completions, 0) << "completed inside cancel";
    ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
    EXPECT_EQ(r.result, -ECANCELED);
    EXPECT_EQ(received_by(c.peer).size(), stuffed);
    sending next(as_message, ours, "next");
    EXPECT_EQ(perform(next), 4);
    EXPECT_EQ(received_by(c.peer), "next");
  }
}

TEST_P(io_send, a_cancel_that_comes_after_success_is_too_late) {
  for (const bool as_message : {false, true}) {
    connection c = tcp_connection();
    endpoint ours(backend, std::move(c.ours));
    sending r(as_message, ours, "hello");
    submit(r);
    ASSERT_TRUE(backend.collect_something());
    backend->cancel(r);
    backend.run_ready();
    backend.settle();
    EXPECT_EQ(r.completions, 1);
    EXPECT_EQ(r.result, 5);
  }
}

INSTANTIATE_TEST_SUITE_P(backends, io_send, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
