// tests/contract/io_receive_many_test.cpp: opcode::receive_many, on every backend: deliveries and ends.
// io_receive_many_limits_test.cpp has cancels, io_receive_many_buffers_test.cpp the empty pool.
#include "tests/contract/io_contract_fixture.hpp"

#include <memory>

namespace gyre::contract {
namespace {

class io_receive_many : public io_contract {
 protected:
  /// Sends `bytes` in random pieces and turns in between, until all have been received.
  void stream_through(const owned_fd& peer, many& m, std::string_view bytes, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::size_t sent = 0;
    const std::size_t before = m.bytes.size();
    const io::monotonic_time end = now() + patience;
    while (m.bytes.size() - before < bytes.size()) {
      ASSERT_LT(now(), end) << "received " << m.bytes.size() - before << " of " << bytes.size();
      ASSERT_FALSE(m.ended()) << m.last_result;
      sent += say(peer, bytes.substr(sent, random() % (random() % 8 == 0 ? 60'000 : 3'000)));
      backend.turn(sent > m.bytes.size() - before ? now() + 20 * milliseconds : io::do_not_wait);
    }
    EXPECT_EQ(std::string_view(m.bytes).substr(before), bytes);
  }
};

TEST_P(io_receive_many, receives_what_comes_and_goes_on) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
  submit(m);
  backend.settle();
  EXPECT_TRUE(m.results.empty());
  EXPECT_EQ(ours.in_flight, 1U);
  for (const std::string_view word : {"one", "two", "three"}) {
    const std::size_t before = m.bytes.size();
    say(c.peer, word);
    ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() == before + word.size(); }));
  }
  EXPECT_EQ(m.bytes, "onetwothree");
  EXPECT_FALSE(m.ended());
  EXPECT_EQ(backend->in_flight(), 1U);
  stop(m);
  EXPECT_EQ(ours.in_flight, 0U);
}

TEST_P(io_receive_many, receives_what_was_there_before) {
  connection c = unix_connection();
  say(c.peer, "early");
  endpoint ours(backend, std::move(c.ours));
  backend.settle();
  many m(backend, GetParam().receives, ours);
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.bytes == "early"; }));
  stop(m);
}

TEST_P(io_receive_many, works_without_attach) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours), false);
  many m(backend, GetParam().receives, ours);
  submit(m);
  backend.turn();
  say(c.peer, "x");
  ASSERT_TRUE(backend.turn_until([&] { return m.bytes == "x"; }));
  stop(m);
}

TEST_P(io_receive_many, holds_no_buffer_while_nothing_comes) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  const std::uint32_t before = backend->buffers().available();
  many m(backend, GetParam().receives, ours);
  submit(m);
  backend.settle();
  EXPECT_EQ(backend->buffers().available(), before);
  say(c.peer, "x");
  ASSERT_TRUE(backend.turn_until([&] { return !m.bytes.empty(); }));
  backend.settle();
  EXPECT_EQ(backend->buffers().available(), before);
  stop(m);
}

TEST_P(io_receive_many, keeps_the_order_of_a_mebibyte_over_tcp) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
  submit(m);
  stream_through(c.peer, m, random_bytes(1 << 20, 11), 12);
  stop(m);
}

TEST_P(io_receive_many, keeps_the_order_of_a_mebibyte_over_a_unix_socket) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
  submit(m);
  stream_through(c.peer, m, random_bytes(1 << 20, 13), 14);
  stop(m);
}

TEST_P(io_receive_many, keeps_the_order_when_it_is_cancelled_again_and_again) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
  const std::string bytes = random_bytes(1 << 18, 15);
  std::mt19937 random(16);
  std::size_t sent = 0;
  const io::monotonic_time end = now() + patience;
  while (m.bytes.size() < bytes.size()) {
    ASSERT_LT(now(), end) << "received " << m.bytes.size();
    if (m.ended()) submit(m);
    sent += say(c.peer, std::string_view(bytes).substr(sent, random() % 6'000));
    for (auto n = random() % 3; n > 0; --n) backend.turn();
    if (random() % 2 == 0) backend->cancel(m);
    if (random() % 2 == 0) backend.turn();
  }
  EXPECT_EQ(m.bytes, bytes);
  if (!m.ended()) stop(m);
}

TEST_P(io_receive_many, ends_with_zero_after_the_last_bytes) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
  submit(m);
  backend.turn();
  const std::string bytes = random_bytes(5000, 17);
  say(c.peer, bytes);
  c.peer.close();
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, 0);
  EXPECT_EQ(m.bytes, bytes);
  submit(m);  // the end is still reported
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, 0);
}

TEST_P(io_receive_many, ends_with_zero_when_the_peer_shuts_down_and_sending_goes_on) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
  submit(m);
  backend.turn();
  say(c.peer, "end");
  ::shutdown(c.peer.get(), SHUT_WR);
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, 0);
  EXPECT_EQ(m.bytes, "end");
  one_shot answer(io::opcode::send, ours, "ok", 2);
  EXPECT_EQ(perform(answer), 2);
  EXPECT_EQ(received_by(c.peer), "ok");
}

TEST_P(io_receive_many, ends_with_the_error_after_the_last_bytes) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
  submit(m);
  backend.turn();
  say(c.peer, "word");
  reset(c.peer);
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -ECONNRESET);
  EXPECT_EQ(m.bytes, "word");
}

TEST_P(io_receive_many, ends_with_zero_after_a_shutdown_of_its_own_side) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
  submit(m);
  backend.turn();
  ::shutdown(ours.fd, SHUT_RD);
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, 0);
}

TEST_P(io_receive_many, reports_what_is_not_connected_and_what_is_not_open) {
  endpoint ours(backend, new_socket(AF_INET));
  many m(backend, GetParam().receives, ours);
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -ENOTCONN);
  io::descriptor closed{.fd = -1};
  many n(backend, GetParam().receives, closed);
  submit(n);
  ASSERT_TRUE(backend.turn_until([&] { return n.ended(); }));
  EXPECT_EQ(n.last_result, -EBADF);
}

TEST_P(io_receive_many, is_not_stranded_behind_urgent_data) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
  submit(m);
  backend.turn();
  say(c.peer, "abc");
  say(c.peer, "!", MSG_OOB);
  say(c.peer, "def");
  ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() == 6; })) << m.bytes;
  EXPECT_EQ(m.bytes, "abcdef");
  stop(m);
}

TEST_P(io_receive_many, serves_many_connections_at_once) {
  constexpr int count = 40;
  std::vector<owned_fd> peers;
  std::vector<std::unique_ptr<endpoint>> ends;
  std::vector<std::unique_ptr<many>> requests;
  for (int i = 0; i < count; ++i) {
    connection c = unix_connection();
    peers.push_back(std::move(c.peer));
    ends.push_back(std::make_unique<endpoint>(backend, std::move(c.ours)));
    requests.push_back(std::make_unique<many>(backend, GetParam().receives, *ends.back()));
    submit(*requests.back());
  }
  for (int round = 0; round < 5; ++round)
    for (int i = 0; i < count; ++i) {
      say(peers[static_cast<std::size_t>(i)], std::to_string(i) + ",");
      if (i % 7 == 0) backend.turn();
    }
  for (int i = 0; i < count; ++i) {
    many& m = *requests[static_cast<std::size_t>(i)];
    std::string expected;
    for (int round = 0; round < 5; ++round) expected += std::to_string(i) + ",";
    ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() >= expected.size(); }));
    EXPECT_EQ(m.bytes, expected);
  }
  for (auto& m : requests) stop(*m);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_many, every_backend_and_size, backend_name);

}  // namespace
}  // namespace gyre::contract
