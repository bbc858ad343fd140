// tests/faults/net_faults_test.cpp: a failure in a server costs one connection, and in a client one operation.
#include "tests/faults/served_through.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

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

TEST_P(net_faults, a_listener_without_a_descriptor_reports_the_shortage) {
  static int reports = 0;
  reports = 0;
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    std::error_code found;
    try {
      const auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    } catch (const gyre::io_error& error) {
      found = error.code();
      ++reports;
    }
    f.disarm();
    if (f.kind() == fault_kind::process_fds) EXPECT_EQ(found.value(), f.reached() ? EMFILE : 0);
    if (f.kind() == fault_kind::system_fds) EXPECT_EQ(found.value(), f.reached() ? ENFILE : 0);
    co_return;
  });
  const bool lacks_descriptors = GetParam() != fault_kind::allocation && GetParam() != fault_kind::shortage;
  if (lacks_descriptors) EXPECT_EQ(reports, 1);
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
    const auto listen = [&]() -> gyre::task<> {
      auto tcp = gyre::tcp_listener::bind("127.0.0.1:0");
      auto local = gyre::unix_listener::bind(gyre::unix_address(path));
      co_return;
    };
    co_await fail_and_check(f, listen, [&](bool) { EXPECT_NE(::access(path.c_str(), F_OK), 0); });
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

// A Unix socket that is aborted only ends, so a relay that fails may look like that to its peers.
TEST_P(net_faults, relays_of_bulk_pass_on_each_byte_or_fail) {
  survives([](fault_injection& f) -> gyre::task<> {
    const auto relay_and_check = [](gyre::unix_stream front, gyre::unix_stream back, gyre::unix_stream client,
                                    gyre::unix_stream server) -> gyre::task<> {
      constexpr std::size_t size = 2'000'000;
      const std::string sent(size, 'x');
      std::size_t received = 0;
      auto relaying = gyre::copy_bidirectional(front, back);
      const auto send_and_receive = [&]() -> gyre::task<> {
        const auto send = [&]() -> gyre::task<> {
          co_await client.write_all(sent);
          co_await client.shutdown_write();
        };
        const auto receive = [&]() -> gyre::task<> {
          std::vector<char> buffer(100'000);
          while (const std::size_t n = co_await server.read_some(std::span<char>(buffer))) received += n;
          co_await server.shutdown_write();
        };
        auto both = gyre::gather(send(), receive());
        co_await std::move(both);
      };
      auto all = gyre::gather(std::move(relaying), send_and_receive());
      co_await std::move(all);
      EXPECT_EQ(received, size);
    };
    std::array<std::pair<gyre::unix_stream, gyre::unix_stream>, 4> ends;
    for (auto& each : ends) {
      auto pair = gyre::unix_stream::pair();
      each = {std::move(pair.first), std::move(pair.second)};
      each.second.set_send_buffer_size(1'000'000);  // so that large buffers are filled
    }
    f.arm();
    auto first = relay_and_check(std::move(ends[0].first), std::move(ends[1].first), std::move(ends[0].second),
                                 std::move(ends[1].second));
    auto second = relay_and_check(std::move(ends[2].first), std::move(ends[3].first), std::move(ends[2].second),
                                  std::move(ends[3].second));
    auto both = gyre::gather(std::move(first), std::move(second));
    co_await std::move(both);
    if (!f.active()) EXPECT_GT(gyre::event_loop::current().backend().pipes().lent(), 0U);
  });
}

INSTANTIATE_TEST_SUITE_P(one, net_faults,
                         testing::Values(fault_kind::allocation, fault_kind::shortage, fault_kind::process_fds,
                                         fault_kind::system_fds, fault_kind::fd_limit),
                         kind_name);
