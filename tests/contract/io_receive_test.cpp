// tests/contract/io_receive_test.cpp: opcode::receive_into, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

namespace gyre::contract {
namespace {

class io_receive : public io_contract {
 protected:
  std::string buffer = std::string(64, '.');

  one_shot into(io::descriptor& d) { return {io::opcode::receive_into, d, buffer.data(), buffer.size()}; }
  std::string received(const one_shot& r) { return buffer.substr(0, static_cast<std::size_t>(std::max(0, r.result))); }
};

TEST_P(io_receive, gives_bytes_that_are_there_already) {
  const connection c = unix_connection();
  say(c.peer, "hello");
  endpoint ours(backend, owned_fd(::dup(c.ours.get())));
  one_shot r = into(ours);
  EXPECT_EQ(perform(r), 5);
  EXPECT_EQ(received(r), "hello");
}

TEST_P(io_receive, waits_for_bytes) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r = into(ours);
  submit(r);
  backend.settle();
  EXPECT_FALSE(r.done());
  EXPECT_EQ(backend->in_flight(), 1U);
  EXPECT_EQ(ours.in_flight, 1U);
  say(c.peer, "late");
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(received(r), "late");
  EXPECT_EQ(backend->in_flight(), 0U);
  EXPECT_EQ(ours.in_flight, 0U);
}

TEST_P(io_receive, finds_bytes_that_came_while_nobody_asked) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  say(c.peer, "before");
  backend.settle();  // all events of the kernel for it arrive now
  one_shot r = into(ours);
  EXPECT_EQ(perform(r), 6);
}

TEST_P(io_receive, leaves_what_does_not_fit_to_the_next) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  const std::string bytes = random_bytes(150, 1);
  say(c.peer, bytes);
  std::string all;
  for (const int expected : {64, 64, 22}) {
    one_shot r = into(ours);
    EXPECT_EQ(perform(r), expected);
    all += received(r);
  }
  EXPECT_EQ(all, bytes);
}

TEST_P(io_receive, works_without_attach) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours), false);
  one_shot r = into(ours);
  submit(r);
  backend.turn();
  say(c.peer, "x");
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, 1);
}

TEST_P(io_receive, gives_zero_at_the_end_and_again) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  say(c.peer, "last");
  c.peer.close();
  one_shot first = into(ours);
  EXPECT_EQ(perform(first), 4);
  for (int i = 0; i < 3; ++i) {
    one_shot r = into(ours);
    EXPECT_EQ(perform(r), 0);
  }
}

TEST_P(io_receive, ends_with_zero_when_the_peer_shuts_down_and_sending_goes_on) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r = into(ours);
  submit(r);
  backend.turn();
  ::shutdown(c.peer.get(), SHUT_WR);
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, 0);
  one_shot answer(io::opcode::send, ours, "bye", 3);
  EXPECT_EQ(perform(answer), 3);
  EXPECT_EQ(received_by(c.peer), "bye");
}

TEST_P(io_receive, ends_with_zero_after_a_shutdown_of_its_own_side) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r = into(ours);
  submit(r);
  backend.turn();
  ::shutdown(ours.fd, SHUT_RD);
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, 0);
}

TEST_P(io_receive, reports_a_reset) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r = into(ours);
  submit(r);
  backend.turn();
  reset(c.peer);
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, -ECONNRESET);
}

TEST_P(io_receive, gives_the_bytes_before_it_reports_the_reset) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  say(c.peer, "word");
  reset(c.peer);
  one_shot first = into(ours);
  EXPECT_EQ(perform(first), 4);
  one_shot second = into(ours);
  EXPECT_EQ(perform(second), -ECONNRESET);
}

TEST_P(io_receive, reports_what_is_not_connected_and_what_is_not_open) {
  endpoint unconnected(backend, new_socket(AF_INET));
  one_shot first = into(unconnected);
  EXPECT_EQ(perform(first), -ENOTCONN);
  io::descriptor closed{.fd = -1};
  one_shot second = into(closed);
  EXPECT_EQ(perform(second), -EBADF);
}

TEST_P(io_receive, is_not_stranded_behind_urgent_data) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r = into(ours);
  submit(r);
  backend.turn();
  say(c.peer, "abc");
  say(c.peer, "!", MSG_OOB);
  say(c.peer, "def");
  std::string all;
  while (all.size() < 6) {
    ASSERT_TRUE(backend.turn_until([&] { return r.done(); })) << "after " << all;
    ASSERT_GT(r.result, 0);
    all += received(r);
    if (all.size() < 6) submit(r);
  }
  EXPECT_EQ(all, "abcdef");
}

TEST_P(io_receive, keeps_the_order_of_a_long_stream_in_random_pieces) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  const std::string bytes = random_bytes(1 << 18, 2);
  std::mt19937 random(3);
  std::string all;
  std::size_t sent = 0;
  buffer.resize(4096);
  while (all.size() < bytes.size()) {
    sent += say(c.peer, std::string_view(bytes).substr(sent, random() % 5000));
    one_shot r(io::opcode::receive_into, ours, buffer.data(), 1 + random() % buffer.size());
    if (sent > all.size()) {
      ASSERT_GT(perform(r), 0);
      all += received(r);
    }
  }
  EXPECT_EQ(all, bytes);
}

// ---- cancelling

TEST_P(io_receive, cancelled_at_once_takes_nothing) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r = into(ours);
  submit(r);
  backend->cancel(r);
  EXPECT_EQ(r.completions, 0) << "completed inside cancel";
  EXPECT_EQ(r.where, io::phase::in_flight) << "still to be handed out";
  say(c.peer, "kept");
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  one_shot next = into(ours);
  if (r.result == -ECANCELED) perform(next);
  EXPECT_EQ(r.result == -ECANCELED ? received(next) : received(r), "kept");
}

TEST_P(io_receive, cancelled_while_waiting_takes_nothing) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r = into(ours);
  submit(r);
  backend.settle();
  backend->cancel(r);
  backend->cancel(r);  // a second cancel makes no difference
  EXPECT_EQ(ours.in_flight, 1U) << "the descriptor is in use until the completion is handed out";
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, -ECANCELED);
  EXPECT_EQ(buffer, std::string(64, '.'));
  say(c.peer, "kept");
  one_shot next = into(ours);
  EXPECT_EQ(perform(next), 4);
}

TEST_P(io_receive, a_cancel_that_comes_after_success_is_too_late) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r = into(ours);
  submit(r);
  say(c.peer, "done");
  ASSERT_TRUE(backend.collect_something());
  backend->cancel(r);
  backend.run_ready();
  backend.settle();
  EXPECT_EQ(r.completions, 1);
  EXPECT_EQ(received(r), "done");
}

TEST_P(io_receive, a_cancel_of_what_is_not_in_flight_does_nothing) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r = into(ours);
  backend->cancel(r);
  backend.settle();
  EXPECT_EQ(r.completions, 0);
  say(c.peer, "ok");
  EXPECT_EQ(perform(r), 2);
}

TEST_P(io_receive, can_be_cancelled_and_submitted_again_many_times) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  one_shot r = into(ours);
  for (int i = 0; i < 300; ++i) {
    submit(r);
    if (i % 3 == 0) backend.turn();
    backend->cancel(r);
    ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
    ASSERT_EQ(r.result, -ECANCELED);
  }
  say(c.peer, "still");
  EXPECT_EQ(perform(r), 5);
}

TEST_P(io_receive, a_cancel_leaves_the_other_direction_alone) {
  connection c = unix_connection();
  const std::size_t stuffed = fill(c.ours);
  endpoint ours(backend, std::move(c.ours));
  one_shot reading = into(ours);
  one_shot writing(io::opcode::send, ours, "more", 4);
  submit(reading);
  submit(writing);
  backend.settle();
  EXPECT_EQ(ours.in_flight, 2U);
  backend->cancel(reading);
  ASSERT_TRUE(backend.turn_until([&] { return reading.done(); }));
  EXPECT_EQ(reading.result, -ECANCELED);
  EXPECT_EQ(writing.completions, 0);
  EXPECT_EQ(received_by(c.peer).size(), stuffed);
  ASSERT_TRUE(backend.turn_until([&] { return writing.done(); }));
  EXPECT_EQ(writing.result, 4);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
