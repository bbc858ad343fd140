// tests/net/outliving_test.cpp: objects that belong to a loop, and are made or destroyed without it.
#include <gyre/loop/operation.hpp>

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace {

constexpr const char* sentence = "was made or destroyed without its loop: make it in the task that run\\(\\) runs";

/// Hands what `make` gives out of the loop that it was made on.
template <class Make>
void outlive(Make make) {
  const auto body = [make]() -> gyre::task<decltype(make())> { co_return make(); };
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

TEST(outliving, a_file_that_outlives_its_loop_stops_the_program_with_a_sentence) {
  EXPECT_DEATH(outlive([] { return gyre::fs::standard_input(); }), sentence);
}

TEST(outliving, a_socket_that_is_made_without_a_loop_stops_the_program_with_a_sentence) {
  EXPECT_DEATH((void)gyre::tcp_listener::bind("127.0.0.1:0"), sentence);
  EXPECT_DEATH((void)gyre::udp_socket::bind("127.0.0.1:0"), sentence);
  EXPECT_DEATH((void)gyre::unix_stream::pair(), sentence);
}
