// tests/contract/io_receive_many_limits_test.cpp: receive_many and receive_large_many when they are cancelled, and
// when one connection receives more than the others.
#include "tests/contract/io_contract_fixture.hpp"

#include <memory>

namespace gyre::contract {
namespace {

class io_receive_many_limits : public io_contract {};

// ---- cancelling

TEST_P(io_receive_many_limits, cancelled_at_once_loses_no_byte) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  say(c.peer, "kept");
  many m(backend, GetParam().receives, ours);
  submit(m);
  backend->cancel(m);
  EXPECT_EQ(m.last_result, 1) << "delivered inside cancel";
  EXPECT_EQ(m.where, io::phase::in_flight);
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -ECANCELED);
  EXPECT_EQ(m.completions, 1);
  EXPECT_EQ(m.bytes + received_by(ours.socket()), "kept");
}

TEST_P(io_receive_many_limits, cancelled_while_waiting_takes_nothing_from_then_on) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
  submit(m);
  backend.settle();
  stop(m);
  EXPECT_EQ(m.last_result, -ECANCELED);
  EXPECT_EQ(m.completions, 1);
  say(c.peer, "kept");
  backend.settle();
  EXPECT_EQ(m.bytes, "");
  EXPECT_EQ(received_by(ours.socket()), "kept");
}

TEST_P(io_receive_many_limits, what_was_delivered_before_the_cancel_stays_delivered) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
  submit(m);
  say(c.peer, "first");
  ASSERT_TRUE(backend.collect_something());
  backend->cancel(m);
  say(c.peer, "second");
  backend.run_ready();
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -ECANCELED);
  EXPECT_EQ(m.bytes + received_by(ours.socket()), "firstsecond");
}

TEST_P(io_receive_many_limits, a_cancel_after_the_end_does_nothing) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
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
  many m(backend, GetParam().receives, ours);
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
  many first(backend, GetParam().receives, one);
  many second(backend, GetParam().receives, two);
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
  EXPECT_EQ(first.bytes + received_by(one.socket()), [] {
    std::string s;
    for (int i = 0; i < 50; ++i) s += "aa";
    return s;
  }());
  EXPECT_EQ(second.bytes.size() + received_by(two.socket()).size(), 100U);
}

// ---- fairness

TEST_P(io_receive_many_limits, one_that_always_has_data_leaves_the_others_their_turn) {
  connection loud = unix_connection();
  connection quiet = unix_connection();
  const int size = 1 << 20;
  ::setsockopt(loud.peer.get(), SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
  endpoint one(backend, std::move(loud.ours));
  endpoint two(backend, std::move(quiet.ours));
  many noise(backend, GetParam().receives, one);
  many word(backend, GetParam().receives, two);
  submit(noise);
  submit(word);
  const std::size_t stuffed = fill(loud.peer);
  say(quiet.peer, "word");
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

TEST_P(io_receive_many_limits, goes_on_before_its_completion_has_been_called) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, GetParam().receives, ours);
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

INSTANTIATE_TEST_SUITE_P(backends, io_receive_many_limits, every_backend_and_size, backend_name);

}  // namespace
}  // namespace gyre::contract
