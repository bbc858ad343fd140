// tests/faults/net_faults_test.cpp: a failure in a server costs one connection, and in a client one operation.
#include "tests/faults/bound_path.hpp"
#include "tests/faults/served_through.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string_view>

using namespace gyre_test;

namespace {

class net_faults : public faults {};

template <class Stream>
gyre::task<> talk_through(Stream stream) {
  std::array<char, 5> answer;
  co_await stream.write_all(std::string_view("hello"));
  co_await gyre::timeout(5s, stream.read_exactly(std::span<char>(answer)));
  EXPECT_EQ(std::string_view(answer.data(), answer.size()), "hello");
}

gyre::task<> talk_to(const gyre::address& where) {
  auto stream = co_await gyre::tcp_stream::connect(where);
  co_await talk_through(std::move(stream));
}

template <class Stream>
gyre::task<> echo(Stream peer) {
  while (const gyre::buffer_lease lease = co_await peer.receive()) co_await peer.write_all(lease.bytes());
}

gyre::task<> accept_one_after_the_other(gyre::tcp_listener& listener) {
  for (;;) {
    auto peer = co_await listener.accept();
    const auto outcome = co_await gyre::as_expected(peer.receive());
    if (outcome && !outcome->bytes().empty()) (void)co_await gyre::as_expected(peer.write_all(outcome->bytes()));
  }
}

}  // namespace

TEST_P(net_faults, a_server_of_streams_outlives_its_connections) {
  survives([](fault_injection& f) -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    const gyre::address where = listener.local_address();
    co_await serve_through(f, listener.serve(echo<gyre::tcp_stream>),
                           [&] GYRE_CORO_WRAPPER() { return talk_to(where); });
  });
}

TEST_P(net_faults, a_loop_around_accept_outlives_its_connections) {
  survives([](fault_injection& f) -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    const gyre::address where = listener.local_address();
    co_await serve_through(f, accept_one_after_the_other(listener), [&] GYRE_CORO_WRAPPER() { return talk_to(where); });
  });
}

TEST_P(net_faults, a_server_of_readers_and_writers_outlives_its_connections) {
  survives([](fault_injection& f) -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    const gyre::address where = listener.local_address();
    auto client = [](gyre::stream_reader& reader, gyre::stream_writer& writer) -> gyre::task<> {
      const auto bytes = co_await reader.read_exactly(5);
      writer.write(bytes);
      co_await writer.drain();
    };
    co_await serve_through(f, gyre::start_server(client, listener), [&] GYRE_CORO_WRAPPER() { return talk_to(where); });
  });
}

TEST_P(net_faults, a_server_on_a_unix_socket_outlives_its_connections) {
  survives([](fault_injection& f) -> gyre::task<> {
    const gyre::unix_address where("@gyre_faults_" + std::to_string(::getpid()));
    auto listener = gyre::unix_listener::bind(where);
    const auto talk = [&]() -> gyre::task<> {
      auto stream = co_await gyre::unix_stream::connect(where);
      co_await talk_through(std::move(stream));
    };
    co_await serve_through(f, listener.serve(echo<gyre::unix_stream>), talk);
  });
}

TEST_P(net_faults, listening_gives_back_what_it_had) {
  survives([](fault_injection& f) -> gyre::task<> {
    const std::string path = "/tmp/gyre_faults_with_a_long_name_" + std::to_string(::getpid());
    binding_leaves_nothing_at(path, f, [&] {
      auto tcp = gyre::tcp_listener::bind("127.0.0.1:0");
      auto local = gyre::unix_listener::bind(gyre::unix_address(path));
    });
    co_return;
  });
}

TEST_P(net_faults, connecting_by_name_gives_back_what_it_had) {
  survives([](fault_injection& f) -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    const std::string where = "localhost:" + std::to_string(listener.local_address().port());
    f.arm();
    auto connection = co_await gyre::open_connection(where);
    connection.writer.write("hello");
    co_await connection.writer.drain();
  });
}

TEST_P(net_faults, resolving_gives_back_what_it_had) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    (void)co_await gyre::resolve("localhost", 80);
    (void)co_await gyre::resolve("127.0.0.1:80");
  });
}

TEST_P(net_faults, streams_made_of_descriptors_give_them_back) {
  survives([](fault_injection& f) -> gyre::task<> {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const gyre::owned_fd other(ends[1]);
    f.arm();
    auto stream = gyre::unix_stream::from_fd(ends[0]);
    auto pair = gyre::unix_stream::pair();
    co_await pair.second.write_all(std::string_view("hello"));
    co_await talk_through(std::move(pair.first));
  });
}

INSTANTIATE_TEST_SUITE_P(one, net_faults,
                         testing::Values(fault_kind::allocation, fault_kind::shortage, fault_kind::process_fds,
                                         fault_kind::system_fds, fault_kind::fd_limit),
                         kind_name);
