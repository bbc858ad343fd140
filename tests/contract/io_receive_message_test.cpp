// tests/contract/io_receive_message_test.cpp: opcode::receive_message and opcode::receive_messages_many, on every
// backend.
#include "tests/contract/io_contract_fixture.hpp"
#include "tests/contract/message_receiver.hpp"

#include <array>
#include <cstring>

namespace gyre::contract {
namespace {

sockaddr_in address_of(const owned_fd& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  checked(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  return address;
}

class io_receive_message : public io_contract {
 protected:
  void expect_texts(message_receiver& m, const std::vector<std::string>& expected) {
    EXPECT_TRUE(backend.turn_until([&] { return m.texts.size() >= expected.size(); }));
    EXPECT_EQ(m.texts, expected);
  }
  int result_of(message_receiver& m) {
    EXPECT_TRUE(backend.turn_until([&] { return m.ended(); })) << "never ended";
    return m.last_result;
  }
  int stop(message_receiver& m) {
    m.cancel();
    return result_of(m);
  }
};

TEST_P(io_receive_message, gives_every_datagram_with_its_sender_and_goes_on) {
  message_receiver m(backend, GetParam().code);
  m.submit();
  for (const char* each : {"one", "", "three"}) tell(m.peer, each);
  expect_texts(m, {"one", "", "three"});
  EXPECT_EQ(m.ports, std::vector<std::uint16_t>(3, address_of(m.peer).sin_port));
  EXPECT_EQ(m.where, io::phase::in_flight);
  tell(m.peer, "later");
  expect_texts(m, {"one", "", "three", "later"});
  EXPECT_EQ(stop(m), -ECANCELED);
}

TEST_P(io_receive_message, gives_all_datagrams_that_wait_already) {
  message_receiver m(backend, GetParam().code);
  std::vector<std::string> sent;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) tell(m.peer, sent.emplace_back(std::to_string(i)));
    if (round == 0) m.submit();
    expect_texts(m, sent);
  }
  stop(m);
}

TEST_P(io_receive_message, cuts_a_datagram_off_that_does_not_fit_and_says_so) {
  message_receiver m(backend, GetParam().code);
  m.submit();
  tell(m.peer, std::string(5000, 'x'));
  tell(m.peer, "small");
  const std::size_t before_text = sizeof(io::message_header) + sizeof(sockaddr_in) + 24U;
  const std::size_t room = GetParam().code == io::opcode::receive_message ? 1024U : 1024U - before_text;
  expect_texts(m, {std::string(room, 'x'), "small"});
  EXPECT_EQ(m.truncated, (std::vector<bool>{true, false}));
  stop(m);
}

TEST_P(io_receive_message, ends_with_an_error_of_the_network) {
  message_receiver m(backend, GetParam().code);
  const sockaddr_in nobody = address_of(udp_pair().ours);
  checked(::connect(m.fd, reinterpret_cast<const sockaddr*>(&nobody), sizeof(nobody)), "connect");
  m.submit();
  backend.settle();
  checked(static_cast<int>(::send(m.fd, "x", 1, 0)), "send");
  EXPECT_EQ(result_of(m), -ECONNREFUSED);
}

TEST_P(io_receive_message, a_cancel_ends_it_and_takes_no_datagram) {
  message_receiver m(backend, GetParam().code);
  m.submit();
  backend.settle();
  EXPECT_EQ(stop(m), -ECANCELED);
  tell(m.peer, "later");
  m.submit();
  expect_texts(m, {"later"});
  stop(m);
}

TEST_P(io_receive_message, a_datagram_that_came_first_wins_over_the_cancel) {
  message_receiver m(backend, GetParam().code);
  m.submit();
  backend.settle();
  tell(m.peer, "first");
  ASSERT_TRUE(backend.collect_something());
  stop(m);
  EXPECT_EQ(m.texts, std::vector<std::string>{"first"});
}

TEST_P(io_receive_message, ends_with_its_backend) {
  message_receiver m(backend, GetParam().code);
  m.submit();
  backend.settle();
  backend.destroy();
  EXPECT_EQ(m.where, io::phase::idle);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_message,
                         ::testing::ValuesIn(every_kernel_with({io::opcode::receive_message,
                                                                io::opcode::receive_messages_many})),
                         operation_name);

class io_receive_messages_many : public io_receive_message {};

TEST_P(io_receive_messages_many, waits_while_there_are_no_buffers_and_goes_on_when_they_come_back) {
  message_receiver m(backend, io::opcode::receive_messages_many);
  m.keeps = true;
  m.submit();
  const std::size_t all = backend->buffers().count();
  std::vector<std::string> sent;
  for (std::size_t i = 0; i < all + 20; ++i) {
    tell(m.peer, sent.emplace_back(std::to_string(i)));
    backend.turn();
  }
  backend.settle();
  EXPECT_LE(m.texts.size(), all);
  EXPECT_EQ(m.last_result, 1) << "it ended";
  m.keeps = false;
  m.release_kept();
  expect_texts(m, sent);
  stop(m);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_messages_many,
                         ::testing::ValuesIn(every_kernel_with({io::opcode::receive_messages_many})), backend_name);

// ---- control data

class io_receive_control : public io_contract {};

TEST_P(io_receive_control, descriptors_come_along_and_are_close_on_exec) {
  endpoint ours(backend, unix_connection());
  char byte = 0;
  io::const_buffer piece{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  io::message whole;
  whole.buffers = &piece;
  whole.buffer_count = 1;
  whole.control = control.data();
  whole.control_length = control.size();
  one_shot r(io::opcode::receive_message, ours, &whole);
  submit(r);

  char sent = 'x';
  iovec data{.iov_base = &sent, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> passed{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = passed.data();
  message.msg_controllen = passed.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = 0;
  std::memcpy(CMSG_DATA(header), &number, sizeof(number));
  checked(static_cast<int>(::sendmsg(ours.peer.get(), &message, 0)), "sendmsg");

  EXPECT_EQ(result_of(r), 1);
  EXPECT_EQ(byte, 'x');
  int came = -1;
  std::memcpy(&came, CMSG_DATA(reinterpret_cast<cmsghdr*>(control.data())), sizeof(came));
  const owned_fd owner(came);
  EXPECT_EQ(::fcntl(came, F_GETFD), FD_CLOEXEC);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_control, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
