// tests/contract/io_receive_message_test.cpp: opcode::receive_message, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <array>
#include <cstring>

namespace gyre::contract {
namespace {

/// Receives a datagram, or what a stream has, into one buffer, with its sender and ancillary data.
struct receiving : one_shot {
  std::array<char, 16> bytes{};
  io::const_buffer piece{bytes.data(), bytes.size()};
  sockaddr_storage from{};
  alignas(cmsghdr) std::array<char, 64> control{};
  io::message whole;

  explicit receiving(io::descriptor& d) : one_shot(io::opcode::receive_message, d) { prepare(); }
  void prepare() {
    whole = {};
    whole.name = &from;
    whole.name_length = sizeof(from);
    whole.buffers = &piece;
    whole.buffer_count = 1;
    whole.control = control.data();
    whole.control_length = control.size();
    address = &whole;
  }
  [[nodiscard]] std::string text() const { return {bytes.data(), static_cast<std::size_t>(std::max(result, 0))}; }
};

class io_receive_message : public io_contract {};

TEST_P(io_receive_message, gives_a_datagram_and_its_sender) {
  connection c = udp_pair();
  endpoint ours(backend, std::move(c.ours));
  receiving r(ours);
  submit(r);
  tell(c.peer, "hello");
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.text(), "hello");
  sockaddr_in peer{};
  socklen_t size = sizeof(peer);
  checked(::getsockname(c.peer.get(), reinterpret_cast<sockaddr*>(&peer), &size), "getsockname");
  EXPECT_EQ(r.whole.name_length, sizeof(peer));
  EXPECT_EQ(reinterpret_cast<const sockaddr_in&>(r.from).sin_port, peer.sin_port);
}

TEST_P(io_receive_message, datagrams_that_wait_already_come_one_by_one) {
  connection c = udp_pair();
  endpoint ours(backend, std::move(c.ours));
  for (const char* each : {"one", "two", "three"}) tell(c.peer, each);
  for (const char* each : {"one", "two", "three"}) {
    receiving r(ours);
    perform(r);
    EXPECT_EQ(r.text(), each);
  }
}

TEST_P(io_receive_message, an_empty_datagram_is_a_result_of_zero) {
  connection c = udp_pair();
  endpoint ours(backend, std::move(c.ours));
  tell(c.peer, "");
  receiving r(ours);
  EXPECT_EQ(perform(r), 0);
  EXPECT_EQ(r.whole.name_length, sizeof(sockaddr_in));
}

TEST_P(io_receive_message, what_does_not_fit_is_cut_off_and_said_so) {
  connection c = udp_pair();
  endpoint ours(backend, std::move(c.ours));
  tell(c.peer, "more than sixteen bytes");
  receiving r(ours);
  EXPECT_EQ(perform(r), 16);
  EXPECT_NE(r.whole.flags & MSG_TRUNC, 0);
}

TEST_P(io_receive_message, descriptors_come_along_and_are_close_on_exec) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  receiving r(ours);
  submit(r);
  char byte = 'x';
  iovec data{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int sent = 0;
  std::memcpy(CMSG_DATA(header), &sent, sizeof(sent));
  checked(static_cast<int>(::sendmsg(c.peer.get(), &message, 0)), "sendmsg");
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.text(), "x");
  int came = -1;
  std::memcpy(&came, CMSG_DATA(reinterpret_cast<cmsghdr*>(r.control.data())), sizeof(came));
  const owned_fd owner(came);
  EXPECT_EQ(::fcntl(came, F_GETFD), FD_CLOEXEC);
}

TEST_P(io_receive_message, an_error_of_the_network_is_the_result_once) {
  connection c = udp_pair();
  const int number = c.ours.get();
  sockaddr_in nobody{};
  socklen_t size = sizeof(nobody);
  {
    connection gone = udp_pair();
    checked(::getsockname(gone.ours.get(), reinterpret_cast<sockaddr*>(&nobody), &size), "getsockname");
  }
  endpoint ours(backend, std::move(c.ours));
  receiving r(ours);
  checked(::connect(number, reinterpret_cast<sockaddr*>(&nobody), size), "connect");
  submit(r);
  backend.settle();
  checked(static_cast<int>(::send(number, "x", 1, 0)), "send");
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, -ECONNREFUSED);
}

TEST_P(io_receive_message, a_cancel_ends_it_and_takes_no_datagram) {
  connection c = udp_pair();
  endpoint ours(backend, std::move(c.ours));
  receiving r(ours);
  submit(r);
  backend.settle();
  backend->cancel(r);
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.result, -ECANCELED);
  tell(c.peer, "later");
  receiving next(ours);
  perform(next);
  EXPECT_EQ(next.text(), "later");
}

TEST_P(io_receive_message, a_datagram_that_came_first_wins_over_the_cancel) {
  connection c = udp_pair();
  endpoint ours(backend, std::move(c.ours));
  receiving r(ours);
  submit(r);
  backend.settle();
  tell(c.peer, "first");
  ASSERT_TRUE(backend.collect_something());
  backend->cancel(r);
  ASSERT_TRUE(backend.turn_until([&] { return r.done(); }));
  EXPECT_EQ(r.text(), "first");
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_message, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
