// tests/contract/io_receive_test.cpp: every operation that receives from a stream, on every backend: deliveries and
// ends. io_receive_cancel_test.cpp has cancels, io_receive_many_buffers_test.cpp the empty pool.
#include "tests/contract/io_contract_fixture.hpp"

#include <deque>

namespace gyre::contract {
namespace {

class io_receive : public io_contract {
 protected:
  /// Sends `bytes` in random pieces and turns in between, until all have been received.
  void stream_through(receiver& m, std::string_view bytes, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::size_t sent = 0;
    const io::monotonic_time end = now() + patience;
    while (m.bytes.size() < bytes.size()) {
      ASSERT_LT(now(), end) << "received " << m.bytes.size() << " of " << bytes.size();
      ASSERT_FALSE(m.ended()) << m.last_result;
      sent += say(m.peer, bytes.substr(sent, random() % (random() % 8 == 0 ? 60'000 : 3'000)));
      backend.turn(sent > m.bytes.size() ? now() + 20 * milliseconds : io::do_not_wait);
    }
    EXPECT_EQ(m.bytes, bytes);
  }
};

TEST_P(io_receive, receives_what_comes_and_goes_on) {
  receiver m(backend, GetParam().code, tcp_connection());
  begin_to_wait(m);
  EXPECT_EQ(m.in_flight, 1U);
  for (const std::string_view word : {"one", "two", "three"}) {
    const std::size_t before = m.bytes.size();
    say(m.peer, word);
    ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() == before + word.size(); }));
  }
  EXPECT_EQ(m.bytes, "onetwothree");
  EXPECT_FALSE(m.ended());
  EXPECT_EQ(backend->in_flight(), 1U);
  stop(m);
  EXPECT_EQ(m.in_flight, 0U);
}

TEST_P(io_receive, receives_what_came_before_it_was_submitted) {
  receiver m(backend, GetParam().code, unix_connection());
  say(m.peer, "early");
  backend.settle();  // all events of the kernel for it arrive now
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.bytes == "early"; }));
  stop(m);
}

TEST_P(io_receive, works_without_attach) {
  endpoint ours(backend, unix_connection(), false);
  many m(backend, GetParam().code, ours);
  submit(m);
  backend.turn();
  say(ours.peer, "x");
  ASSERT_TRUE(backend.turn_until([&] { return m.bytes == "x"; }));
  stop(m);
}

TEST_P(io_receive, holds_no_buffer_while_nothing_comes) {
  receiver m(backend, GetParam().code, tcp_connection());
  const std::uint32_t before = backend->buffers().available();
  begin_to_wait(m);
  EXPECT_EQ(backend->buffers().available(), before);
  say(m.peer, "x");
  ASSERT_TRUE(backend.turn_until([&] { return !m.bytes.empty(); }));
  backend.settle();
  EXPECT_EQ(backend->buffers().available(), before);
  stop(m);
}

TEST_P(io_receive, keeps_the_order_of_a_mebibyte_over_tcp_and_over_a_unix_socket) {
  for (const bool by_tcp : {true, false}) {
    receiver m(backend, GetParam().code, by_tcp ? tcp_connection() : unix_connection());
    submit(m);
    stream_through(m, random_bytes(1 << 20, 11), 12);
    stop(m);
  }
}

TEST_P(io_receive, ends_with_zero_after_the_last_bytes_and_again) {
  receiver m(backend, GetParam().code, tcp_connection());
  submit(m);
  backend.turn();
  const std::string bytes = random_bytes(5000, 17);
  say(m.peer, bytes);
  m.peer.close();
  EXPECT_EQ(result_of(m), 0);
  EXPECT_EQ(m.bytes, bytes);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(perform(m), 0);
}

TEST_P(io_receive, ends_with_zero_when_the_peer_shuts_down_and_sending_goes_on) {
  for (const bool by_tcp : {true, false}) {
    receiver m(backend, GetParam().code, by_tcp ? tcp_connection() : unix_connection());
    submit(m);
    backend.turn();
    say(m.peer, "end");
    ::shutdown(m.peer.get(), SHUT_WR);
    EXPECT_EQ(result_of(m), 0);
    EXPECT_EQ(m.bytes, "end");
    one_shot answer(io::opcode::send, m, "ok", 2);
    EXPECT_EQ(perform(answer), 2);
    EXPECT_EQ(received_by(m.peer), "ok");
  }
}

TEST_P(io_receive, ends_with_zero_after_a_shutdown_of_its_own_side) {
  receiver m(backend, GetParam().code, tcp_connection());
  submit(m);
  backend.turn();
  ::shutdown(m.fd, SHUT_RD);
  EXPECT_EQ(result_of(m), 0);
}

TEST_P(io_receive, gives_the_bytes_before_it_reports_a_reset) {
  receiver m(backend, GetParam().code, tcp_connection());
  submit(m);
  backend.turn();
  say(m.peer, "word");
  reset(m.peer);
  EXPECT_EQ(result_of(m), -ECONNRESET);
  EXPECT_EQ(m.bytes, "word");
}

TEST_P(io_receive, reports_a_reset_while_it_waits) {
  receiver m(backend, GetParam().code, tcp_connection());
  submit(m);
  backend.turn();
  reset(m.peer);
  EXPECT_EQ(result_of(m), -ECONNRESET);
}

TEST_P(io_receive, reports_a_socket_that_is_not_connected_and_one_that_is_not_open) {
  endpoint unconnected(backend, new_socket(AF_INET));
  many m(backend, GetParam().code, unconnected);
  EXPECT_EQ(perform(m), -ENOTCONN);
  io::descriptor closed{.fd = -1};
  many n(backend, GetParam().code, closed);
  EXPECT_EQ(perform(n), -EBADF);
}

TEST_P(io_receive, is_not_stranded_behind_urgent_data) {
  receiver m(backend, GetParam().code, tcp_connection());
  submit(m);
  backend.turn();
  say(m.peer, "abc");
  say(m.peer, "!", MSG_OOB);
  say(m.peer, "def");
  ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() == 6; })) << m.bytes;
  EXPECT_EQ(m.bytes, "abcdef");
  stop(m);
}

TEST_P(io_receive, serves_many_connections_at_once) {
  constexpr int count = 40;
  std::deque<receiver> all;
  for (int i = 0; i < count; ++i) submit(all.emplace_back(backend, GetParam().code, unix_connection()));
  std::vector<std::string> sent(count);
  for (int round = 0; round < 5; ++round)
    for (std::size_t i = 0; i < count; ++i) {
      const std::string text = std::to_string(i) + ",";
      say(all[i].peer, text);
      sent[i] += text;
      if (i % 7 == 0) backend.turn();
    }
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(backend.turn_until([&] { return all[i].bytes.size() >= sent[i].size(); }));
    EXPECT_EQ(all[i].bytes, sent[i]);
    stop(all[i]);
  }
}

// ---- fairness

TEST_P(io_receive, one_that_always_has_data_leaves_the_others_their_turn) {
  receiver noise(backend, GetParam().code, unix_connection());
  receiver word(backend, GetParam().code, unix_connection());
  const int size = 1 << 20;
  ::setsockopt(noise.peer.get(), SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
  submit(noise);
  submit(word);
  const std::size_t stuffed = fill(noise.peer);
  say(word.peer, "word");
  std::size_t max_in_one_turn = 0;
  for (int i = 0; i < 3 && word.bytes.empty(); ++i) {
    const std::size_t before = noise.results.size();
    backend.turn(now() + 100 * milliseconds);
    max_in_one_turn = std::max(max_in_one_turn, noise.results.size() - before);
  }
  EXPECT_EQ(word.bytes, "word");
  EXPECT_LE(max_in_one_turn, 80U) << "deliveries to one descriptor in one turn";
  ASSERT_TRUE(backend.turn_until([&] { return noise.bytes.size() == stuffed; }));
  stop(noise);
  stop(word);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive,
                         ::testing::ValuesIn(every_kernel_with({io::opcode::receive_into, io::opcode::receive_many,
                                                                io::opcode::receive_large_many})),
                         operation_name);

// ---- receive_into: the caller's buffer

class io_receive_into : public io_contract {
 protected:
  /// Receives up to `size` bytes.
  std::string received(io::descriptor& d, std::size_t size) {
    std::string buffer(size, '.');
    one_shot r(io::opcode::receive_into, d, buffer.data(), size);
    buffer.resize(static_cast<std::size_t>(std::max(0, perform(r))));
    return buffer;
  }
};

TEST_P(io_receive_into, leaves_what_does_not_fit_to_the_next) {
  endpoint ours(backend, tcp_connection());
  const std::string bytes = random_bytes(150, 1);
  say(ours.peer, bytes);
  EXPECT_EQ(received(ours, 64), bytes.substr(0, 64));
  EXPECT_EQ(received(ours, 64), bytes.substr(64, 64));
  EXPECT_EQ(received(ours, 64), bytes.substr(128));
}

TEST_P(io_receive_into, gives_the_bytes_before_it_reports_a_reset_that_came_before_it) {
  receiver m(backend, io::opcode::receive_into, tcp_connection());
  say(m.peer, "word");
  reset(m.peer);
  EXPECT_EQ(perform(m), -ECONNRESET);
  EXPECT_EQ(m.bytes, "word");
}

TEST_P(io_receive_into, keeps_the_order_of_a_long_stream_in_random_pieces) {
  endpoint ours(backend, tcp_connection());
  const std::string bytes = random_bytes(1 << 18, 2);
  std::mt19937 random(3);
  std::string all;
  for (std::size_t sent = 0; all.size() < bytes.size();) {
    sent += say(ours.peer, std::string_view(bytes).substr(sent, random() % 5000));
    if (sent > all.size()) all += received(ours, 1 + random() % 4096);
  }
  EXPECT_EQ(all, bytes);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_into, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
