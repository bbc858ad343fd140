// tests/contract/io_receive_messages_many_test.cpp: opcode::receive_messages_many, on every backend.
#include "tests/contract/io_contract_fixture.hpp"
#include "tests/contract/message_receiver.hpp"

namespace gyre::contract {
namespace {

class io_receive_messages_many : public io_contract {
 protected:
  void stop(message_receiver& m) {
    backend->cancel(m);
    EXPECT_TRUE(backend.turn_until([&] { return m.ended(); })) << "never ended";
    EXPECT_EQ(m.last_result, -ECANCELED);
  }
};

TEST_P(io_receive_messages_many, gives_every_datagram_with_its_sender_and_goes_on) {
  connection c = udp_pair();
  endpoint ours(backend, std::move(c.ours));
  message_receiver m(*backend, ours);
  backend->submit(m);
  for (const char* each : {"one", "", "three"}) tell(c.peer, each);
  ASSERT_TRUE(backend.turn_until([&] { return m.texts.size() == 3; }));
  EXPECT_EQ(m.texts, (std::vector<std::string>{"one", "", "three"}));
  sockaddr_in peer{};
  socklen_t size = sizeof(peer);
  checked(::getsockname(c.peer.get(), reinterpret_cast<sockaddr*>(&peer), &size), "getsockname");
  EXPECT_EQ(m.ports, std::vector<std::uint16_t>(3, peer.sin_port));
  EXPECT_EQ(m.where, io::phase::in_flight);
  tell(c.peer, "later");
  ASSERT_TRUE(backend.turn_until([&] { return m.texts.size() == 4; }));
  stop(m);
}

TEST_P(io_receive_messages_many, datagrams_that_wait_already_all_come) {
  connection c = udp_pair();
  endpoint ours(backend, std::move(c.ours));
  for (int i = 0; i < 100; ++i) tell(c.peer, std::to_string(i));
  message_receiver m(*backend, ours);
  backend->submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.texts.size() == 100; }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(m.texts[static_cast<std::size_t>(i)], std::to_string(i));
  stop(m);
}

TEST_P(io_receive_messages_many, what_does_not_fit_into_a_buffer_is_cut_off_and_said_so) {
  connection c = udp_pair();
  endpoint ours(backend, std::move(c.ours));
  message_receiver m(*backend, ours);
  backend->submit(m);
  tell(c.peer, std::string(5000, 'x'));
  tell(c.peer, "small");
  ASSERT_TRUE(backend.turn_until([&] { return m.texts.size() == 2; }));
  EXPECT_EQ(m.texts[0].size(), 1024U - sizeof(io::message_header) - sizeof(sockaddr_in) - 24U);
  EXPECT_EQ(m.truncated, (std::vector<bool>{true, false}));
  stop(m);
}

TEST_P(io_receive_messages_many, without_buffers_it_waits_and_goes_on_when_they_come_back) {
  connection c = udp_pair();
  endpoint ours(backend, std::move(c.ours));
  message_receiver m(*backend, ours);
  m.keeps = true;
  backend->submit(m);
  const std::size_t all = backend->buffers().count();
  for (std::size_t i = 0; i < all + 20; ++i) {
    tell(c.peer, std::to_string(i));
    backend.turn();
  }
  backend.settle();
  EXPECT_LE(m.texts.size(), all);
  EXPECT_EQ(m.last_result, 1) << "it ended";
  m.keeps = false;
  m.release_kept();
  ASSERT_TRUE(backend.turn_until([&] { return m.texts.size() == all + 20; }));
  for (std::size_t i = 0; i < all + 20; ++i) EXPECT_EQ(m.texts[i], std::to_string(i));
  stop(m);
}

TEST_P(io_receive_messages_many, an_error_of_the_network_ends_it) {
  connection c = udp_pair();
  endpoint ours(backend, std::move(c.ours));
  sockaddr_in nobody{};
  socklen_t size = sizeof(nobody);
  {
    const connection gone = udp_pair();
    checked(::getsockname(gone.ours.get(), reinterpret_cast<sockaddr*>(&nobody), &size), "getsockname");
  }
  checked(::connect(ours.fd, reinterpret_cast<sockaddr*>(&nobody), size), "connect");
  message_receiver m(*backend, ours);
  backend->submit(m);
  checked(static_cast<int>(::send(ours.fd, "x", 1, 0)), "send");
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -ECONNREFUSED);
}

TEST_P(io_receive_messages_many, the_end_of_the_backend_ends_it) {
  connection c = udp_pair();
  endpoint ours(backend, std::move(c.ours));
  message_receiver m(*backend, ours);
  backend->submit(m);
  backend.settle();
  backend.destroy();
  EXPECT_EQ(m.where, io::phase::idle);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_messages_many, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
