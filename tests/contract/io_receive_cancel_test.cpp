// tests/contract/io_receive_cancel_test.cpp: cancelling every operation that receives from a stream, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

namespace gyre::contract {
namespace {

class io_receive_cancel : public io_contract {};

TEST_P(io_receive_cancel, at_once_loses_no_byte) {
  const bool is_newest = GetParam().like == kernel_kind::present && (GetParam().is_epoll() || ring_has_multishots());
  for (const bool said_before : {true, false}) {
    receiver m(backend, GetParam().code, tcp_connection());
    if (said_before) say(m.peer, "kept");
    submit(m);
    cancel(m);
    EXPECT_EQ(m.where, io::phase::in_flight) << "still to be handed out";
    if (!said_before) say(m.peer, "kept");
    EXPECT_EQ(result_of(m), -ECANCELED);
    EXPECT_LE(m.completions, is_newest ? 1 : 2) << "an older ring hands out the bytes before";
    EXPECT_EQ(m.bytes + received_by(m.socket()), "kept");
  }
}

TEST_P(io_receive_cancel, while_it_waits_takes_nothing_from_then_on) {
  receiver m(backend, GetParam().code, tcp_connection());
  begin_to_wait(m);
  cancel(m);
  cancel(m);  // a second cancel makes no difference
  EXPECT_EQ(m.in_flight, 1U) << "the descriptor is in use until the completion is handed out";
  EXPECT_EQ(result_of(m), -ECANCELED);
  EXPECT_EQ(m.completions, 1);
  say(m.peer, "kept");
  backend.settle();
  EXPECT_EQ(m.bytes, "");
  EXPECT_EQ(received_by(m.socket()), "kept");
}

TEST_P(io_receive_cancel, comes_too_late_for_what_was_delivered) {
  receiver m(backend, GetParam().code, tcp_connection());
  submit(m);
  say(m.peer, "first");
  ASSERT_TRUE(backend.collect_something());
  cancel(m);
  say(m.peer, "second");
  backend.run_ready();
  EXPECT_EQ(result_of(m), -ECANCELED);
  EXPECT_TRUE(m.bytes.starts_with("first"));
  EXPECT_EQ(m.bytes + received_by(m.socket()), "firstsecond");
}

TEST_P(io_receive_cancel, does_nothing_to_a_request_that_is_not_in_flight) {
  receiver m(backend, GetParam().code, tcp_connection());
  cancel(m);
  backend.settle();
  EXPECT_EQ(m.completions, 0);
  m.peer.close();
  EXPECT_EQ(perform(m), 0);
  cancel(m);
  backend.settle();
  EXPECT_EQ(m.last_result, 0);
  EXPECT_EQ(m.completions, 1);
}

TEST_P(io_receive_cancel, can_be_repeated_many_times_and_the_next_receive_works) {
  receiver m(backend, GetParam().code, tcp_connection());
  for (int i = 0; i < 300; ++i) {
    submit(m);
    if (i % 3 == 0) backend.turn();
    ASSERT_EQ(stop(m), -ECANCELED);
  }
  say(m.peer, "still");
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.bytes == "still"; }));
  stop(m);
}

TEST_P(io_receive_cancel, again_and_again_keeps_the_order_of_the_bytes) {
  receiver m(backend, GetParam().code, tcp_connection());
  const std::string bytes = random_bytes(1 << 18, 15);
  std::mt19937 random(16);
  std::size_t sent = 0;
  const io::monotonic_time end = now() + patience;
  while (m.bytes.size() < bytes.size()) {
    ASSERT_LT(now(), end) << "received " << m.bytes.size();
    if (m.ended()) submit(m);
    sent += say(m.peer, std::string_view(bytes).substr(sent, random() % 6'000));
    for (auto n = random() % 3; n > 0; --n) backend.turn();
    if (random() % 2 == 0) m.cancel();
    if (random() % 2 == 0) backend.turn();
  }
  EXPECT_EQ(m.bytes, bytes);
  if (!m.ended()) stop(m);
}

TEST_P(io_receive_cancel, may_come_from_a_delivery) {
  receiver m(backend, GetParam().code, tcp_connection());
  const std::string bytes = random_bytes(20'000, 21);
  say(m.peer, bytes);
  m.on_delivery = [&](int result) {
    if (result > 0) m.cancel();
  };
  for (int arms = 0; m.bytes.size() < bytes.size(); ++arms) {
    ASSERT_LT(arms, 1000);
    ASSERT_EQ(perform(m), -ECANCELED);
  }
  EXPECT_EQ(m.bytes, bytes);
}

TEST_P(io_receive_cancel, may_come_from_the_delivery_of_another) {
  receiver first(backend, GetParam().code, unix_connection());
  receiver second(backend, GetParam().code, unix_connection());
  const auto cancel_both = [&](int result) {
    if (result <= 0) return;
    first.cancel();
    second.cancel();
  };
  first.on_delivery = cancel_both;
  second.on_delivery = cancel_both;
  std::string sent;
  for (int i = 0; i < 50; ++i) {
    if (first.ended()) submit(first);
    if (second.ended()) submit(second);
    if (i % 2 == 0) backend.turn();
    say(first.peer, "ab");
    say(second.peer, "ab");
    sent += "ab";
    ASSERT_TRUE(backend.turn_until([&] { return first.ended() && second.ended(); }));
  }
  EXPECT_EQ(first.bytes + received_by(first.socket()), sent);
  EXPECT_EQ(second.bytes + received_by(second.socket()), sent);
}

TEST_P(io_receive_cancel, leaves_the_other_direction_alone) {
  connection c = unix_connection();
  const std::size_t stuffed = fill(c.ours);
  receiver reading(backend, GetParam().code, std::move(c));
  one_shot writing(io::opcode::send, reading, "more", 4);
  submit(reading);
  submit(writing);
  backend.settle();
  EXPECT_EQ(reading.in_flight, 2U);
  EXPECT_EQ(stop(reading), -ECANCELED);
  EXPECT_EQ(writing.completions, 0);
  EXPECT_EQ(received_by(reading.peer).size(), stuffed);
  EXPECT_EQ(result_of(writing), 4);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_cancel,
                         ::testing::ValuesIn(every_kernel_with({io::opcode::receive_into, io::opcode::receive_many,
                                                                io::opcode::receive_large_many})),
                         operation_name);

}  // namespace
}  // namespace gyre::contract
