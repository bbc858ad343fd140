// tests/contract/io_descriptor_test.cpp: attaching, detaching, closing, and the end of a backend, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <memory>

namespace gyre::contract {
namespace {

class io_descriptor : public io_contract {};

TEST_P(io_descriptor, a_number_that_is_used_again_at_once_is_another_descriptor) {
  for (int i = 0; i < 50; ++i) {
    int number = -1;
    {
      receiver first(backend, io::opcode::receive_many, unix_connection());
      number = first.fd;
      submit(first);
      if (i % 2 == 0) backend.turn();
      stop(first);
      say(first.peer, "for nobody");
    }
    // The kernel assigns the lowest free number, which is the one just closed.
    connection second = unix_connection();
    if (second.ours.get() != number) std::swap(second.ours, second.peer);
    ASSERT_EQ(second.ours.get(), number);
    endpoint ours(backend, std::move(second));
    char buffer[16];
    one_shot r(io::opcode::receive_into, ours, buffer, sizeof(buffer));
    submit(r);
    backend.turn();
    say(ours.peer, "new");
    ASSERT_EQ(result_of(r), 3);
  }
}

TEST_P(io_descriptor, a_descriptor_object_can_be_used_for_another_socket) {
  io::descriptor d;
  for (int i = 0; i < 20; ++i) {
    const connection c = unix_connection();
    d.fd = c.ours.get();
    backend->attach(d);
    char buffer[16];
    one_shot r(io::opcode::receive_into, d, buffer, sizeof(buffer));
    submit(r);
    if (i % 2 == 0) backend.turn();
    say(c.peer, "hello");
    EXPECT_EQ(result_of(r), 5);
    backend->detach(d);
  }
}

TEST_P(io_descriptor, attaching_twice_and_detaching_twice_do_no_harm) {
  endpoint ours(backend, unix_connection());
  backend->attach(ours);
  char byte = 0;
  one_shot r(io::opcode::receive_into, ours, &byte, 1);
  submit(r);
  say(ours.peer, "x");
  EXPECT_EQ(result_of(r), 1);
  backend->detach(ours);
  backend->detach(ours);
}

TEST_P(io_descriptor, nothing_comes_from_a_detached_descriptor_of_which_a_duplicate_lives_on) {
  connection c = unix_connection();
  const owned_fd duplicate(::dup(c.ours.get()));
  {
    const auto ours = std::make_unique<endpoint>(backend, std::move(c.ours));
    char byte = 0;
    one_shot r(io::opcode::receive_into, *ours, &byte, 1);
    submit(r);
    backend.turn();
    EXPECT_EQ(stop(r), -ECANCELED);
  }
  say(c.peer, "x");
  backend.settle();  // the address sanitizer would report an event for the freed object
  EXPECT_EQ(received_by(duplicate), "x");
}

// Only a sanitizer reports a use of the freed descriptor.
TEST_P(io_descriptor, a_delivery_may_free_another_descriptor_that_has_an_event_too) {
  for (const bool its_event_comes_last : {false, true}) {
    receiver m(backend, io::opcode::receive_many, unix_connection());
    connection other = unix_connection();
    auto victim = std::make_unique<endpoint>(backend, std::move(other.ours));
    begin_to_wait(m);
    m.on_delivery = [&](int) { victim.reset(); };
    if (!its_event_comes_last) say(other.peer, "event");
    say(m.peer, "event");
    if (its_event_comes_last) say(other.peer, "event");
    ASSERT_TRUE(backend.turn_until([&] { return !m.bytes.empty(); }));
    EXPECT_EQ(victim, nullptr);
    stop(m);
  }
}

// Only a sanitizer reports a use of the freed descriptor.
TEST_P(io_descriptor, the_last_delivery_may_free_its_own_descriptor) {
  connection c = unix_connection();
  auto ours = std::make_unique<endpoint>(backend, std::move(c.ours));
  many m(backend, io::opcode::receive_many, *ours);
  m.on_delivery = [&](int result) {
    if (result <= 0) ours.reset();
  };
  submit(m);
  backend.turn();
  say(c.peer, "x");
  c.peer.close();
  EXPECT_EQ(result_of(m), 0);
  EXPECT_EQ(ours, nullptr);
  backend.settle();
}

TEST_P(io_descriptor, events_after_the_end_of_a_multishot_do_not_reach_it) {
  endpoint ours(backend, unix_connection());
  {
    many m(backend, io::opcode::receive_many, ours);
    begin_to_wait(m);
    stop(m);
  }
  say(ours.peer, "event");
  backend.settle();
  char buffer[16];
  one_shot r(io::opcode::receive_into, ours, buffer, sizeof(buffer));
  EXPECT_EQ(perform(r), 5);
}

TEST_P(io_descriptor, a_delivery_may_cancel_what_the_same_event_lets_go_on) {
  full_endpoint ours(backend, unix_connection());
  many m(backend, io::opcode::receive_many, ours);
  one_shot sending(io::opcode::send, ours, "more", 4);
  begin_to_wait(m);
  begin_to_wait(sending);
  m.on_delivery = [&](int) { backend->cancel(sending); };
  EXPECT_EQ(received_by(ours.peer).size(), ours.stuffed);
  say(ours.peer, "x");
  ASSERT_TRUE(backend.turn_until([&] { return sending.done() && m.bytes == "x"; }));
  backend.settle();
  EXPECT_EQ(sending.completions, 1);
  EXPECT_EQ(received_by(ours.peer), sending.result == 4 ? "more" : "") << sending.result;
  stop(m);
}

TEST_P(io_descriptor, can_go_from_one_backend_to_another) {
  endpoint ours(backend, unix_connection());
  char buffer[16];
  one_shot first(io::opcode::receive_into, ours, buffer, sizeof(buffer));
  say(ours.peer, "one");
  EXPECT_EQ(perform(first), 3);
  backend->detach(ours);
  say(ours.peer, "two");

  turning_backend other(GetParam());
  ASSERT_TRUE(other);
  other->attach(ours);
  one_shot second(io::opcode::receive_into, ours, buffer, sizeof(buffer));
  ++second.submissions;
  other->submit(second);
  ASSERT_TRUE(other.turn_until([&] { return second.done(); }));
  EXPECT_EQ(second.result, 3);
  other->detach(ours);
}

// ---- the end of a backend

TEST_P(io_descriptor, requests_in_flight_when_the_backend_dies_are_not_used_any_more) {
  connection reading = tcp_connection();
  connection full = unix_connection();
  connection streaming = tcp_connection();
  const tcp_server server;
  const std::size_t stuffed = fill(full.ours);
  endpoint ends[] = {{backend, owned_fd(::dup(reading.ours.get()))},
                     {backend, owned_fd(::dup(full.ours.get()))},
                     {backend, owned_fd(::dup(streaming.ours.get()))},
                     {backend, owned_fd(::dup(server.fd.get()))}};
  std::string buffer(64, '.');
  one_shot receiving(io::opcode::receive_into, ends[0], buffer.data(), buffer.size());
  one_shot sending(io::opcode::send, ends[1], "more", 4);
  one_shot waiting(io::opcode::wait_readable, ends[1]);
  many stream(backend, io::opcode::receive_many, ends[2]);
  many connections(backend, io::opcode::accept_many, ends[3]);
  for (one_shot* r : {&receiving, &sending, &waiting}) submit(*r);
  submit(stream);
  submit(connections);
  backend.settle();
  one_shot unseen(io::opcode::send, ends[0], "x", 1);
  submit(unseen);  // done or nearly done, but never handed out
  io::descriptor closed{.fd = -1};
  many hopeless(backend, io::opcode::receive_many, closed);
  submit(hopeless);
  EXPECT_EQ(backend->in_flight(), 7U);

  backend.destroy();
  for (one_shot* r : {&receiving, &sending, &waiting, &unseen}) {
    EXPECT_EQ(r->where, io::phase::idle);
    EXPECT_EQ(r->completions, 0);
  }
  EXPECT_TRUE(stream.ended() && connections.ended() && hopeless.ended());
  for (endpoint& e : ends) EXPECT_EQ(e.in_flight, 0U);

  // Nothing is read from the sockets, nothing is written into the buffer, and nothing is sent.
  say(reading.peer, "later");
  say(streaming.peer, "later");
  const owned_fd client = server.begin_connect();
  EXPECT_EQ(received_by(reading.ours), "later");
  EXPECT_EQ(received_by(streaming.ours), "later");
  EXPECT_EQ(buffer, std::string(64, '.'));
  EXPECT_EQ(received_by(full.peer).size(), stuffed);
  const owned_fd accepted(::accept4(server.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_GE(accepted.get(), 0);
}

TEST_P(io_descriptor, a_cancelled_connect_is_over_when_the_backend_dies) {
  tcp_server server(0);
  const owned_fd earlier = server.begin_connect();
  endpoint ours(backend, new_socket(AF_INET));
  one_shot r(io::opcode::connect, ours, &server.address, sizeof(server.address));
  submit(r);
  backend.turn();
  ASSERT_FALSE(r.done());
  backend->cancel(r);
  backend.destroy();
  EXPECT_EQ(r.where, io::phase::idle);
}

TEST_P(io_descriptor, a_receive_that_waits_for_a_buffer_when_the_backend_dies_is_told) {
  if (!GetParam().is_epoll()) GTEST_SKIP() << "the ring forgets those that it has not armed again";
  io::backend_options options = turning_backend::small();
  options.buffer_count = 2;
  begin(options);
  receiver m(backend, io::opcode::receive_many, unix_connection());
  m.keeps_buffers = true;
  submit(m);
  say(m.peer, random_bytes(10'000, 51));
  ASSERT_TRUE(backend.turn_until([&] { return m.kept.size() == 2; }));
  backend.settle();  // now it has no buffer left
  EXPECT_FALSE(m.ended());
  backend.destroy();
  EXPECT_TRUE(m.ended());
}

TEST_P(io_descriptor, backends_come_and_go) {
  for (int i = 0; i < 20; ++i) {
    begin();
    endpoint ours(backend, unix_connection());
    one_shot r(io::opcode::send, ours, "x", 1);
    EXPECT_EQ(perform(r), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(backends, io_descriptor, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
