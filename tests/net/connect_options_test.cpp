// tests/net/connect_options_test.cpp: choosing the local end of a connection, and adopting descriptors.
#include "tests/net/connected_pair.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace gyre_test;

TEST(connect_options, a_connection_comes_from_the_local_address_that_was_asked_for) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    gyre::connect_options options;
    options.local = gyre::address("127.0.0.2:0");
    auto client = co_await gyre::tcp_stream::connect(listener.local_address(), options);
    auto server = co_await listener.accept();
    EXPECT_EQ(server.peer_address().host(), "127.0.0.2");
    EXPECT_EQ(client.local_address(), server.peer_address());
  });
}

TEST(connect_options, the_local_port_can_be_chosen_too) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    gyre::connect_options options;
    options.local = gyre::tcp_listener::bind(own_loopback()).local_address();  // a port that was free just now
    auto client = co_await gyre::tcp_stream::connect(listener.local_address(), options);
    EXPECT_EQ(client.local_address(), options.local);
  });
}

TEST(connect_options, an_address_that_is_not_ours_is_an_error_that_names_the_peer) {
  run_test([]() -> gyre::task<> {
    gyre::connect_options options;
    options.local = gyre::address("192.0.2.1:0");
    const gyre::address peer("127.0.0.1:9");
    const std::string text = co_await error_of(gyre::tcp_stream::connect(peer, options));
    EXPECT_EQ(text, "connect 127.0.0.1:9: Cannot assign requested address");
  });
}

TEST(connect_options, a_connection_goes_through_the_interface_that_was_asked_for) {
  run_test([]() -> gyre::task<> {
    gyre::listen_options listening;
    listening.interface = "lo";
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0", listening);
    gyre::connect_options options;
    options.interface = "lo";
    auto client = co_await gyre::tcp_stream::connect(listener.local_address(), options);
    auto server = co_await listener.accept();
    EXPECT_EQ(client.local_address(), server.peer_address());
    options.interface = "nowhere0";
    const std::string text = co_await error_of(gyre::tcp_stream::connect(listener.local_address(), options));
    EXPECT_EQ(text, "connect " + listener.local_address().string() + ": No such device");
  });
}

TEST(connect_options, open_connection_passes_them_on) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    gyre::happy_eyeballs_options options;
    options.connecting.local = gyre::address("127.0.0.3:0");
    auto connection = co_await gyre::open_connection(listener.local_address().string(), options);
    auto server = co_await listener.accept();
    EXPECT_EQ(server.peer_address().host(), "127.0.0.3");
  });
}

TEST(from_fd, a_socket_that_is_not_a_stream_is_refused) {
  run_test([]() -> gyre::task<> {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), 0);
    const gyre::owned_fd other(ends[1]);
    EXPECT_THROW((void)gyre::unix_stream::from_fd(ends[0]), gyre::io_error);
    EXPECT_LT(::fcntl(ends[0], F_GETFD), 0) << "it is closed";
    co_return;
  });
}

TEST(from_fd, a_blocking_descriptor_becomes_non_blocking) {
  run_test([]() -> gyre::task<> {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const auto ours = gyre::tcp_stream::from_fd(ends[0]);
    EXPECT_NE(::fcntl(ours.native_descriptor(), F_GETFL) & O_NONBLOCK, 0);
    ::close(ends[1]);
    co_return;
  });
}
