// tests/contract/io_receive_many_limits_test.cpp: opcode::receive_many when it is cancelled, when the pool is empty,
// and when one connection receives more than the others.
#include "tests/contract/io_contract_fixture.hpp"

#include <memory>

namespace gyre::contract {
namespace {

class io_receive_many_limits : public io_contract {
 protected:
  /// The smallest number of buffers that is of interest.
  void begin_with_two_buffers() {
    io::backend_options options = turning_backend::small();
    options.buffer_count = 2;
    options.buffer_size = 256;
    begin(options);
  }
};

// ---- cancelling

TEST_P(io_receive_many_limits, cancelled_at_once_loses_no_byte) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  say(c.peer, "kept");
  many m(backend, io::opcode::receive_many, ours);
  submit(m);
  backend->cancel(m);
  EXPECT_EQ(m.last_result, 1) << "delivered inside cancel";
  EXPECT_EQ(m.where, io::phase::in_flight);
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -ECANCELED);
  EXPECT_EQ(m.completions, 1);
  EXPECT_EQ(m.bytes + hear(ours.socket()), "kept");
}

TEST_P(io_receive_many_limits, cancelled_while_waiting_takes_nothing_from_then_on) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, io::opcode::receive_many, ours);
  submit(m);
  backend.settle();
  stop(m);
  EXPECT_EQ(m.last_result, -ECANCELED);
  EXPECT_EQ(m.completions, 1);
  say(c.peer, "kept");
  backend.settle();
  EXPECT_EQ(m.bytes, "");
  EXPECT_EQ(hear(ours.socket()), "kept");
}

TEST_P(io_receive_many_limits, what_was_delivered_before_the_cancel_stays_delivered) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, io::opcode::receive_many, ours);
  submit(m);
  say(c.peer, "first");
  ASSERT_TRUE(backend.collect_something());
  backend->cancel(m);
  say(c.peer, "second");
  backend.run_ready();
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -ECANCELED);
  EXPECT_EQ(m.bytes + hear(ours.socket()), "firstsecond");
}

TEST_P(io_receive_many_limits, a_cancel_after_the_end_does_nothing) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, io::opcode::receive_many, ours);
  submit(m);
  c.peer.close();
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  backend->cancel(m);
  backend.settle();
  EXPECT_EQ(m.last_result, 0);
  EXPECT_EQ(m.completions, 1);
}

TEST_P(io_receive_many_limits, a_delivery_may_cancel) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  const std::string bytes = random_bytes(20'000, 21);
  say(c.peer, bytes);
  many m(backend, io::opcode::receive_many, ours);
  m.on_delivery = [&](int result) {
    if (result > 0) backend->cancel(m);
  };
  for (int arms = 0; m.bytes.size() < bytes.size(); ++arms) {
    ASSERT_LT(arms, 1000);
    submit(m);
    ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
    ASSERT_EQ(m.last_result, -ECANCELED);
  }
  EXPECT_EQ(m.bytes, bytes);
}

TEST_P(io_receive_many_limits, a_delivery_may_cancel_another) {
  connection a = unix_connection();
  connection b = unix_connection();
  endpoint one(backend, std::move(a.ours));
  endpoint two(backend, std::move(b.ours));
  many first(backend, io::opcode::receive_many, one);
  many second(backend, io::opcode::receive_many, two);
  const auto cancel_both = [&](int result) {
    if (result <= 0) return;
    backend->cancel(first);
    backend->cancel(second);
  };
  first.on_delivery = cancel_both;
  second.on_delivery = cancel_both;
  for (int i = 0; i < 50; ++i) {
    if (first.ended()) submit(first);
    if (second.ended()) submit(second);
    if (i % 2 == 0) backend.turn();
    say(a.peer, "aa");
    say(b.peer, "bb");
    ASSERT_TRUE(backend.turn_until([&] { return first.ended() && second.ended(); }));
  }
  EXPECT_EQ(first.bytes + hear(one.socket()), [] {
    std::string s;
    for (int i = 0; i < 50; ++i) s += "aa";
    return s;
  }());
  EXPECT_EQ(second.bytes.size() + hear(two.socket()).size(), 100U);
}

// ---- buffers

TEST_P(io_receive_many_limits, waits_for_a_buffer_and_loses_nothing) {
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

TEST_P(io_receive_many_limits, an_idle_wait_for_a_buffer_does_not_spin) {
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

TEST_P(io_receive_many_limits, can_be_cancelled_while_it_waits_for_a_buffer) {
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
  EXPECT_EQ(m.bytes + hear(ours.socket()), bytes);
}

TEST_P(io_receive_many_limits, shares_few_buffers_between_all_that_want_one) {
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

TEST_P(io_receive_many_limits, an_end_is_seen_after_a_wait_for_buffers) {
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

// ---- fairness

TEST_P(io_receive_many_limits, one_that_always_has_data_leaves_the_others_their_turn) {
  connection loud = unix_connection();
  connection quiet = unix_connection();
  const int size = 1 << 20;
  ::setsockopt(loud.peer.get(), SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
  endpoint one(backend, std::move(loud.ours));
  endpoint two(backend, std::move(quiet.ours));
  many noise(backend, io::opcode::receive_many, one);
  many word(backend, io::opcode::receive_many, two);
  submit(noise);
  submit(word);
  const std::size_t stuffed = fill(loud.peer);
  say(quiet.peer, "word");
  std::size_t most_in_one_turn = 0;
  for (int i = 0; i < 3 && word.bytes.empty(); ++i) {
    const std::size_t before = noise.results.size();
    backend.turn(now() + 100 * milliseconds);
    most_in_one_turn = std::max(most_in_one_turn, noise.results.size() - before);
  }
  EXPECT_EQ(word.bytes, "word");
  EXPECT_LE(most_in_one_turn, 80U) << "deliveries to one descriptor in one turn";
  ASSERT_TRUE(backend.turn_until([&] { return noise.bytes.size() == stuffed; }));
  stop(noise);
  stop(word);
}

TEST_P(io_receive_many_limits, goes_on_before_its_completion_has_been_called) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, io::opcode::receive_many, ours);
  submit(m);
  const std::size_t stuffed = fill(c.peer);
  const io::monotonic_time begun = now();
  while (m.bytes.size() < stuffed && now() < begun + patience) backend.collect(begun + patience);
  EXPECT_EQ(m.bytes.size(), stuffed);
  EXPECT_EQ(m.completions, 0);
  EXPECT_LT(now() - begun, patience / 2) << "it waited although there was more";
  backend.run_ready();
  EXPECT_EQ(m.completions, 1);
  stop(m);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_many_limits, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
