// tests/contract/io_receive_many_buffers_test.cpp: opcode::receive_many when the pool is empty.
#include "tests/contract/io_contract_fixture.hpp"

#include <memory>

namespace gyre::contract {
namespace {

class io_receive_many_buffers : public io_contract {
 protected:
  /// The smallest number of buffers that is of interest.
  void begin_with_two_buffers() {
    io::backend_options options = turning_backend::small();
    options.buffer_count = 2;
    options.buffer_size = 256;
    begin(options);
  }
};

TEST_P(io_receive_many_buffers, waits_for_a_buffer_and_loses_nothing) {
  begin_with_two_buffers();
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, io::opcode::receive_many, ours);
  m.keeps_buffers = true;
  submit(m);
  const std::string bytes = random_bytes(10'000, 22);
  say(c.peer, bytes);
  ASSERT_TRUE(backend.turn_until([&] { return m.kept.size() == 2; }));
  backend.settle();
  EXPECT_EQ(m.kept.size(), 2U);
  EXPECT_FALSE(m.ended()) << "an empty pool is not an end: " << m.last_result;
  EXPECT_EQ(backend->in_flight(), 1U);
  while (m.bytes.size() < bytes.size()) {
    m.release_kept();
    const std::size_t before = m.bytes.size();
    ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() > before; })) << before;
    ASSERT_LE(m.kept.size(), 2U);
  }
  m.release_kept();
  EXPECT_EQ(m.bytes, bytes);
  c.peer.close();
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, 0);
}

TEST_P(io_receive_many_buffers, a_delivery_that_cancels_is_one_of_the_last_while_many_buffers_are_held) {
  connection first = tcp_connection();
  endpoint held(backend, std::move(first.ours));
  many holder(backend, io::opcode::receive_many, held);
  holder.keeps_buffers = true;
  submit(holder);
  say(first.peer, random_bytes(20'000, 24));
  ASSERT_TRUE(backend.turn_until([&] { return holder.bytes.size() == 20'000; }));
  ASSERT_TRUE(backend->buffers().fills_up());

  connection second = tcp_connection();
  endpoint ours(backend, std::move(second.ours));
  const std::string bytes = random_bytes(40'000, 25);
  say(second.peer, bytes);
  many m(backend, io::opcode::receive_many, ours);
  m.on_delivery = [&](int) { backend->cancel(m); };
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_LE(m.sizes.size(), 4U);
  EXPECT_EQ(m.bytes + received_by(ours.socket()), bytes);

  many rest(backend, io::opcode::receive_many, ours);
  submit(rest);
  say(second.peer, bytes);
  ASSERT_TRUE(backend.turn_until([&] { return rest.bytes.size() == bytes.size(); }));
  EXPECT_EQ(rest.bytes, bytes);
  stop(rest);
  holder.release_kept();
  stop(holder);
}

TEST_P(io_receive_many_buffers, an_idle_wait_for_a_buffer_does_not_spin) {
  begin_with_two_buffers();
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, io::opcode::receive_many, ours);
  m.keeps_buffers = true;
  submit(m);
  say(c.peer, random_bytes(2'000, 23));
  ASSERT_TRUE(backend.turn_until([&] { return m.kept.size() == 2; }));
  backend.settle();
  const std::uint64_t calls = backend->system_calls();
  const io::monotonic_time end = now() + 20 * milliseconds;
  while (now() < end) backend.turn(end);
  EXPECT_LE(backend->system_calls() - calls, 8U);
  m.release_kept();
  m.keeps_buffers = false;
  ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() == 2'000; }));
  stop(m);
}

TEST_P(io_receive_many_buffers, can_be_cancelled_while_it_waits_for_a_buffer) {
  begin_with_two_buffers();
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, io::opcode::receive_many, ours);
  m.keeps_buffers = true;
  submit(m);
  const std::string bytes = random_bytes(3'000, 24);
  say(c.peer, bytes);
  ASSERT_TRUE(backend.turn_until([&] { return m.kept.size() == 2; }));
  backend.settle();
  stop(m);
  EXPECT_EQ(m.last_result, -ECANCELED);
  m.release_kept();
  backend.settle();
  EXPECT_EQ(m.bytes + received_by(ours.socket()), bytes);
}

TEST_P(io_receive_many_buffers, shares_few_buffers_between_all_that_want_one) {
  begin_with_two_buffers();
  constexpr std::size_t count = 6;
  std::vector<owned_fd> peers;
  std::vector<std::unique_ptr<endpoint>> ends;
  std::vector<std::unique_ptr<many>> requests;
  for (std::size_t i = 0; i < count; ++i) {
    connection c = tcp_connection();
    peers.push_back(std::move(c.peer));
    ends.push_back(std::make_unique<endpoint>(backend, std::move(c.ours)));
    requests.push_back(std::make_unique<many>(backend, io::opcode::receive_many, *ends.back()));
    requests.back()->keeps_buffers = true;
    submit(*requests.back());
  }
  for (std::size_t i = 0; i < count; ++i) say(peers[i], random_bytes(5'000, static_cast<std::uint32_t>(30 + i)));
  const auto everything_arrived = [&] {
    return std::all_of(requests.begin(), requests.end(), [](const auto& m) { return m->bytes.size() == 5'000; });
  };
  std::size_t rounds = 0;
  for (; !everything_arrived() && rounds < 2'000; ++rounds) {
    backend.turn(now() + 50 * milliseconds);
    for (auto& m : requests) m->release_kept();
  }
  EXPECT_TRUE(everything_arrived());
  for (std::size_t i = 0; i < count; ++i)
    EXPECT_EQ(requests[i]->bytes, random_bytes(5'000, static_cast<std::uint32_t>(30 + i)));
  for (auto& m : requests) stop(*m);
}

TEST_P(io_receive_many_buffers, an_end_is_seen_after_a_wait_for_buffers) {
  begin_with_two_buffers();
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, io::opcode::receive_many, ours);
  m.keeps_buffers = true;
  submit(m);
  say(c.peer, std::string(512, 'x'));  // exactly the size of the pool
  ASSERT_TRUE(backend.turn_until([&] { return m.kept.size() == 2; }));
  c.peer.close();
  backend.settle();
  m.release_kept();
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, 0);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_many_buffers, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
