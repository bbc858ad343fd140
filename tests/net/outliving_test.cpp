// tests/net/outliving_test.cpp: objects that belong to a loop, and are made or destroyed without it.
#include <gyre/loop/operation.hpp>

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <utility>

namespace {

constexpr const char* sentence = "was made or destroyed without its loop: make it in the task that run\\(\\) runs";

/// Returns the object that `make` makes from the loop on which it was made.
template <class Make>
void outlive(Make make) {
  const auto body = [make]() -> gyre::task<decltype(make())> { co_return make(); };
  auto object = gyre::run(body);
}

constexpr const char* lease_sentence = "a buffer_lease outlives its loop: copy the bytes that are needed later";

constexpr const char* cannot_end =
    "a stream, a listener or a datagram socket that still receives outlives its tasks; destroy or close it";

/// Uses the object that `make` makes, so that it receives, and returns it from the loop. Fails the test instead of
/// hanging it.
template <class Make, class Use>
void outlive_receiving(Make make, Use use) {
  ::alarm(30);
  const auto body = [make, use]() -> gyre::task<decltype(make())> {
    auto object = make();
    co_await use(object);
    co_return object;
  };
  auto object = gyre::run(body);
}

}  // namespace

TEST(outliving, a_stream_that_outlives_its_loop_stops_the_program_with_a_sentence) {
  EXPECT_DEATH(outlive([] { return gyre::unix_stream::pair().first; }), sentence);
}

TEST(outliving, a_listener_that_outlives_its_loop_stops_the_program_with_a_sentence) {
  EXPECT_DEATH(outlive([] { return gyre::tcp_listener::bind("127.0.0.1:0"); }), sentence);
}

TEST(outliving, a_datagram_socket_that_outlives_its_loop_stops_the_program_with_a_sentence) {
  EXPECT_DEATH(outlive([] { return gyre::udp_socket::bind("127.0.0.1:0"); }), sentence);
  EXPECT_DEATH(outlive([] { return gyre::unix_datagram::pair().first; }), sentence);
}

TEST(outliving, a_stream_that_receives_and_outlives_its_loop_stops_the_program_with_a_sentence) {
  const auto receive = [](auto& pair) -> gyre::task<> {
    for (int i = 0; i < 2; ++i) {  // after the first message a stream does not receive by itself
      co_await pair.second.write_all("abc");
      (void)co_await pair.first.receive();
    }
  };
  EXPECT_DEATH(outlive_receiving([] { return gyre::unix_stream::pair(); }, receive), cannot_end);
}

TEST(outliving, a_listener_that_accepts_and_outlives_its_loop_stops_the_program_with_a_sentence) {
  const auto accept = [](gyre::tcp_listener& listener) -> gyre::task<> {
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    (void)co_await listener.accept();
  };
  EXPECT_DEATH(outlive_receiving([] { return gyre::tcp_listener::bind("127.0.0.1:0"); }, accept), cannot_end);
}

TEST(outliving, a_datagram_socket_that_receives_and_outlives_its_loop_stops_the_program_with_a_sentence) {
  const auto receive = [](gyre::udp_socket& socket) -> gyre::task<> {
    co_await socket.send_to("abc", socket.local_address());
    (void)co_await socket.receive();
  };
  EXPECT_DEATH(outlive_receiving([] { return gyre::udp_socket::bind("127.0.0.1:0"); }, receive), cannot_end);
}

TEST(outliving, a_file_that_outlives_its_loop_stops_the_program_with_a_sentence) {
  EXPECT_DEATH(outlive([] { return gyre::fs::standard_input(); }), sentence);
}

TEST(outliving, a_lease_that_outlives_its_loop_stops_the_program_with_a_sentence) {
  const auto keep = [] {
    auto receive = []() -> gyre::task<gyre::buffer_lease> {
      auto ends = gyre::unix_stream::pair();
      co_await ends.second.write_all("abc");
      co_return co_await ends.first.receive();
    };
    const gyre::buffer_lease kept = gyre::run(receive);
  };
  EXPECT_DEATH(keep(), lease_sentence);
}

TEST(outliving, a_datagram_lease_that_outlives_its_loop_stops_the_program_with_a_sentence) {
  const auto keep = [] {
    auto receive = []() -> gyre::task<gyre::datagram_lease<gyre::address>> {
      auto socket = gyre::udp_socket::bind("127.0.0.1:0");
      co_await socket.send_to("abc", socket.local_address());
      co_return co_await socket.receive();
    };
    const auto kept = gyre::run(receive);
  };
  EXPECT_DEATH(keep(), lease_sentence);
}

TEST(outliving, a_lease_that_was_released_may_outlive_its_loop) {
  auto receive = []() -> gyre::task<gyre::buffer_lease> {
    auto ends = gyre::unix_stream::pair();
    co_await ends.second.write_all("abc");
    auto lease = co_await ends.first.receive();
    lease.release();
    co_return lease;
  };
  EXPECT_TRUE(gyre::run(receive).empty());
}

TEST(outliving, a_socket_that_is_made_without_a_loop_stops_the_program_with_a_sentence) {
  EXPECT_DEATH((void)gyre::tcp_listener::bind("127.0.0.1:0"), sentence);
  EXPECT_DEATH((void)gyre::udp_socket::bind("127.0.0.1:0"), sentence);
  EXPECT_DEATH((void)gyre::unix_stream::pair(), sentence);
}
