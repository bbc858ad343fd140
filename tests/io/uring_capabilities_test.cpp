// tests/io/uring_capabilities_test.cpp: older kernels can do less, but the results are the same.
#include "tests/contract/message_receiver.hpp"
#include "tests/io/uring_fixture.hpp"

#include <algorithm>
#include <ostream>

namespace gyre::uring_test {
namespace {

struct missing {
  const char* name;
  bool multishot_receive;
  bool multishot_accept;
  bool no_submission_array;
};
std::ostream& operator<<(std::ostream& out, const missing& m) { return out << m.name; }

class uring_capabilities : public ::testing::TestWithParam<missing> {
 protected:
  void SetUp() override {
    const io::backend_choice& choice = io::process_backend_choice();
    if (choice.kind != io::backend_kind::io_uring) GTEST_SKIP() << "no io_uring here: " << choice.reason;
    uring::refusal refused;
    uring::capabilities known = io::uring_backend(driver::small(), nullptr, refused).capabilities();
    if (GetParam().multishot_receive) known.multishot_receive = false;
    if (GetParam().multishot_accept) known.multishot_accept = false;
    if (GetParam().no_submission_array) known.no_submission_array = false;
    d = std::make_unique<driver>(driver::small(), &known);
    ASSERT_EQ(d->refused.error, 0) << d->refused.step;
  }
  void TearDown() override {
    if (!d) return;
    EXPECT_EQ(d->backend->in_flight(), 0U);
  }
  void stop(many& m) {
    d->backend->cancel(m);
    ASSERT_TRUE(d->turn_until([&] { return m.ended(); }));
    EXPECT_EQ(m.last(), -ECANCELED);
  }

  std::unique_ptr<driver> d;
};

TEST_P(uring_capabilities, every_connection_is_delivered_and_it_goes_on) {
  const tcp_server server;
  io::descriptor target = over(server.fd);
  std::vector<owned_fd> clients;
  for (int i = 0; i < 40; ++i) clients.push_back(server.begin_connect());
  many m(io::opcode::accept_many, target);
  d->backend->submit(m);
  ASSERT_TRUE(d->turn_until([&] { return m.results.size() == 40; }));
  clients.push_back(server.begin_connect());
  ASSERT_TRUE(d->turn_until([&] { return m.results.size() == 41; }));
  EXPECT_FALSE(m.ended());
  EXPECT_EQ(target.in_flight, 1U);
  for (const int fd : m.results) ::close(fd);
  stop(m);
  EXPECT_EQ(m.results.size(), 42U);
}

TEST_P(uring_capabilities, every_datagram_is_delivered_and_it_goes_on) {
  const connection c = contract::udp_pair();
  io::descriptor target = over(c.ours);
  contract::message_receiver m(*d->backend, target);
  d->backend->submit(m);
  for (std::size_t round = 1; round <= 3; ++round) {
    for (int i = 0; i < 50; ++i) contract::tell(c.peer, std::to_string(i));
    ASSERT_TRUE(d->turn_until([&] { return m.texts.size() == 50 * round; }));
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(m.texts[50 * (round - 1) + i], std::to_string(i));
  }
  EXPECT_EQ(m.where, io::phase::in_flight);
  d->backend->cancel(m);
  ASSERT_TRUE(d->turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -ECANCELED);
}

TEST_P(uring_capabilities, a_stream_is_received_in_order_to_its_end) {
  connection c = unix_connection();
  io::descriptor target = over(c.ours);
  many m(io::opcode::receive_many, target);
  d->backend->submit(m);
  const std::string sent = contract::random_bytes(20'000, 7);
  std::string got;
  std::size_t at = 0;
  const auto collect = [&] {
    for (; !m.buffers.empty(); d->release(m, 1)) {
      const std::uint32_t index = m.buffers.front();
      got.append(reinterpret_cast<const char*>(d->backend->buffers().data(index)),
                 d->backend->buffers().at(index).length);
    }
  };
  while (got.size() < sent.size()) {
    at += say(c.peer, std::string_view(sent).substr(at, 1'000));
    ASSERT_TRUE(d->turn_until([&] { return !m.buffers.empty() || m.ended(); }));
    collect();
    ASSERT_FALSE(m.ended());
  }
  EXPECT_EQ(got, sent);
  const std::size_t seen = m.results.size();
  c.peer.close();
  ASSERT_TRUE(d->turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last(), 0);
  EXPECT_EQ(m.results.size(), seen + 1);
}

TEST_P(uring_capabilities, a_cancel_ends_a_receive_and_leaves_the_bytes_to_the_next) {
  const connection c = unix_connection();
  io::descriptor target = over(c.ours);
  many m(io::opcode::receive_many, target);
  for (int round = 0; round < 50; ++round) {
    d->backend->submit(m);
    if (round % 2 == 0) d->turn();
    say(c.peer, "0123456789");
    if (round % 3 == 0) d->turn();
    stop(m);
  }
  d->backend->submit(m);
  const auto received = [&] {
    std::size_t bytes = 0;
    for (const int result : m.results) bytes += result > 0 ? static_cast<std::size_t>(result) : 0;
    d->release(m, m.buffers.size());
    return bytes;
  };
  EXPECT_TRUE(d->turn_until([&] { return received() == 500; }));
  stop(m);
}

TEST_P(uring_capabilities, a_cancel_in_the_middle_of_connections_loses_none) {
  const tcp_server server;
  io::descriptor target = over(server.fd);
  std::vector<owned_fd> clients;
  many m(io::opcode::accept_many, target);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 3; ++i) clients.push_back(server.begin_connect());
    d->backend->submit(m);
    if (round % 2 == 0) d->turn();
    stop(m);
  }
  d->backend->submit(m);
  const auto accepted = [&] { return std::count_if(m.results.begin(), m.results.end(), [](int r) { return r >= 0; }); };
  EXPECT_TRUE(d->turn_until([&] { return accepted() == 60; }));
  stop(m);
  for (const int fd : m.results)
    if (fd >= 0) ::close(fd);
}

TEST_P(uring_capabilities, a_starved_receive_goes_on_when_there_is_a_buffer) {
  std::vector<connection> connections;
  std::vector<io::descriptor> targets;
  std::vector<std::unique_ptr<many>> all;
  for (int i = 0; i < 70; ++i) {  // the pool has 64
    connections.push_back(unix_connection());
    targets.push_back(over(connections.back().ours));
  }
  for (io::descriptor& target : targets) {
    all.push_back(std::make_unique<many>(io::opcode::receive_many, target));
    d->backend->submit(*all.back());
  }
  for (const connection& c : connections) say(c.peer, "hello");
  const auto served = [&] {
    return std::count_if(all.begin(), all.end(), [](const auto& m) { return !m->results.empty(); });
  };
  ASSERT_TRUE(d->turn_until([&] { return served() == 64; }));
  d->settle();
  EXPECT_EQ(served(), 64);
  for (auto& m : all) d->release(*m, 1);
  EXPECT_TRUE(d->turn_until([&] { return served() == 70; }));
  for (auto& m : all) {
    d->release(*m, 1);
    EXPECT_EQ(m->results, std::vector<int>{5});
    stop(*m);
  }
}

TEST_P(uring_capabilities, errors_end_both_kinds) {
  connection c = unix_connection();
  io::descriptor not_listening = over(c.ours);
  many accepting(io::opcode::accept_many, not_listening);
  d->backend->submit(accepting);
  ASSERT_TRUE(d->turn_until([&] { return accepting.ended(); }));
  EXPECT_EQ(accepting.results, std::vector<int>{-EINVAL});
  io::descriptor closed;
  many receiving(io::opcode::receive_many, closed);
  d->backend->submit(receiving);
  ASSERT_TRUE(d->turn_until([&] { return receiving.ended(); }));
  EXPECT_EQ(receiving.results, std::vector<int>{-EBADF});
}

INSTANTIATE_TEST_SUITE_P(
    missing, uring_capabilities,
    ::testing::Values(missing{"nothing", false, false, false}, missing{"multishot_receive", true, false, false},
                      missing{"multishot_accept", false, true, false}, missing{"both", true, true, false},
                      missing{"ring_without_array", false, false, true}, missing{"all", true, true, true}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace gyre::uring_test
