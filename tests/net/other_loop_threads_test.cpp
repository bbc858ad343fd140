// tests/net/other_loop_threads_test.cpp: using an object of one loop in a task of another thread's loop stops the
// program with a message.
#include "tests/net/connected_pair.hpp"
#include "tests/support/two_loops.hpp"

#include <array>
#include <string>
#include <thread>

using namespace gyre_test;
using gyre::task;

namespace {

std::array<std::byte, 4> small_buffer;

/// Makes an object on one loop and uses it on the loop of another thread.
template <class Make, class Use>
void use_elsewhere(Make make, Use use) {
  gyre::run([&]() -> task<> {
    auto object = make();
    std::thread([&] { gyre::run([&]() -> task<> { co_await use(object); }); }).join();
    co_return;
  });
}

}  // namespace

TEST(other_loop_threads, a_task_that_waits_for_a_stream_of_another_loop_stops_the_program) {
  const char* const stream = "a TCP or Unix stream";
  const auto make = [] { return gyre::unix_stream::pair(); };
  EXPECT_DEATH(
      use_elsewhere(make, [](auto& p) -> task<> { (void)co_await p.first.read_some(std::span(small_buffer)); }),
      elsewhere("read_some", stream));
  EXPECT_DEATH(use_elsewhere(make, [](auto& p) -> task<> { (void)co_await p.first.receive(); }),
               elsewhere("receive", stream));
  EXPECT_DEATH(use_elsewhere(make, [](auto& p) -> task<> { (void)co_await p.first.receive_descriptors(small_buffer); }),
               elsewhere("receive_descriptors", stream));
  const auto write_much = [](auto& p) -> task<> {
    const std::string much(10'000'000, 'x');
    co_await p.first.write_all(much);
  };
  EXPECT_DEATH(use_elsewhere(make, write_much), elsewhere("write_all", stream));
}

TEST(other_loop_threads, a_stream_that_another_loop_reads_is_not_blamed_on_two_readers) {
  const auto read_on_both = [] {
    gyre::run([]() -> task<> {
      auto pair = gyre::unix_stream::pair();
      auto here = gyre::spawn([&]() -> task<> { (void)co_await pair.first.read_some(std::span(small_buffer)); });
      co_await settle();
      std::thread([&] {
        gyre::run([&]() -> task<> { (void)co_await pair.first.read_some(std::span(small_buffer)); });
      }).join();
      co_await here;
    });
  };
  EXPECT_DEATH(read_on_both(), elsewhere("read_some", "a TCP or Unix stream"));
}

TEST(other_loop_threads, a_task_that_waits_for_a_datagram_socket_of_another_loop_stops_the_program) {
  const char* const socket = "a datagram socket";
  const auto make = [] { return gyre::udp_socket::bind("127.0.0.1:0"); };
  EXPECT_DEATH(use_elsewhere(make, [](auto& s) -> task<> { (void)co_await s.receive_from(small_buffer); }),
               elsewhere("receive_from", socket));
  EXPECT_DEATH(use_elsewhere(make, [](auto& s) -> task<> { (void)co_await s.receive(); }),
               elsewhere("receive", socket));
}

TEST(other_loop_threads, a_task_that_waits_for_a_listener_of_another_loop_stops_the_program) {
  const auto make = [] { return gyre::tcp_listener::bind("127.0.0.1:0"); };
  EXPECT_DEATH(use_elsewhere(make, [](auto& l) -> task<> { (void)co_await l.accept(); }),
               elsewhere("accept", "a listener"));
}

TEST(other_loop_threads, a_stream_that_another_loop_closes_cancels_aborts_or_waits_for_stops_the_program) {
  const char* const stream = "a TCP or Unix stream";
  const auto make = [] { return gyre::unix_stream::pair(); };
  EXPECT_DEATH(use_elsewhere(make, [](auto& p) -> task<> { co_await p.first.close(); }), elsewhere("close", stream));
  const auto cancel = [](auto& p) -> task<> {
    p.first.cancel();
    co_return;
  };
  EXPECT_DEATH(use_elsewhere(make, cancel), elsewhere("cancel", stream));
  const auto wait_for_next = [](auto& p) -> task<> { (void)co_await p.first.next_or_stop(); };
  EXPECT_DEATH(use_elsewhere(make, wait_for_next), elsewhere("next_or_stop", stream));
  const auto abort = [](auto& p) -> task<> {
    p.first.abort();
    co_return;
  };
  EXPECT_DEATH(use_elsewhere(make, abort), elsewhere("abort", stream));
}

TEST(other_loop_threads, a_listener_that_another_loop_stops_stops_the_program) {
  const auto make = [] { return gyre::tcp_listener::bind("127.0.0.1:0"); };
  const auto stop = [](auto& listener) -> task<> {
    listener.stop();
    co_return;
  };
  EXPECT_DEATH(use_elsewhere(make, stop), elsewhere("stop", "a listener"));
  const auto finish = [](auto& listener) -> task<> {
    listener.finish();
    co_return;
  };
  EXPECT_DEATH(use_elsewhere(make, finish), elsewhere("finish", "a listener"));
}

TEST(other_loop_threads, a_datagram_socket_that_another_loop_cancels_stops_the_program) {
  const auto make = [] { return gyre::udp_socket::bind("127.0.0.1:0"); };
  const auto cancel = [](auto& socket) -> task<> {
    socket.cancel();
    co_return;
  };
  EXPECT_DEATH(use_elsewhere(make, cancel), elsewhere("cancel", "a datagram socket"));
}

TEST(other_loop_threads, an_object_that_another_loop_destroys_stops_the_program) {
  const auto destroy = [](auto& object) -> task<> {
    const auto gone = std::move(object);
    co_return;
  };
  const std::string sentence = " was destroyed on the thread of another loop: destroy it in a task of its own loop";
  EXPECT_DEATH(use_elsewhere([] { return gyre::unix_stream::pair().first; }, destroy),
               "a TCP or Unix stream" + sentence);
  EXPECT_DEATH(use_elsewhere([] { return gyre::tcp_listener::bind("127.0.0.1:0"); }, destroy), "a listener" + sentence);
  EXPECT_DEATH(use_elsewhere([] { return gyre::udp_socket::bind("127.0.0.1:0"); }, destroy),
               "a datagram socket" + sentence);
}

TEST(other_loop_threads, operations_that_need_not_wait_stop_debug_builds) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const char* const stream = "a TCP or Unix stream";
  const auto make = [] { return gyre::unix_stream::pair(); };
  EXPECT_DEATH(use_elsewhere(make, [](auto& p) -> task<> { co_await p.first.write_all("x"); }),
               elsewhere("write_all", stream));
  EXPECT_DEATH(use_elsewhere(make, [](auto& p) -> task<> { co_await p.first.shutdown_write(); }),
               elsewhere("shutdown_write", stream));
  const auto bind = [] { return gyre::udp_socket::bind("127.0.0.1:0"); };
  EXPECT_DEATH(use_elsewhere(bind, [](auto& s) -> task<> { co_await s.send_to("x", s.local_address()); }),
               elsewhere("send_to", "a datagram socket"));
}

TEST(other_loop_threads, bytes_and_connections_that_wait_already_stop_debug_builds) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const auto take_bytes = [] {
    run_test([]() -> task<> {
      auto pair = gyre::unix_stream::pair();
      auto reader = gyre::spawn([&]() -> task<> { (void)co_await pair.first.receive(); });
      co_await settle();
      co_await pair.second.write_all("x");
      co_await reader;
      co_await pair.second.write_all("y");  // the queue of the first end stays armed, and takes it
      co_await settle();
      std::thread([&] { gyre::run([&]() -> task<> { (void)co_await pair.first.receive(); }); }).join();
    });
  };
  EXPECT_DEATH(take_bytes(), elsewhere("receive", "a TCP or Unix stream"));
  const auto take_connection = [] {
    run_test([]() -> task<> {
      auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
      auto first = co_await gyre::tcp_stream::connect(listener.local_address());
      (void)co_await listener.accept();
      auto second = co_await gyre::tcp_stream::connect(listener.local_address());
      co_await settle();
      std::thread([&] { gyre::run([&]() -> task<> { (void)co_await listener.accept(); }); }).join();
    });
  };
  EXPECT_DEATH(take_connection(), elsewhere("accept", "a listener"));
}

TEST(other_loop_threads, a_received_buffer_that_another_thread_gives_back_stops_debug_builds) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const auto release = [](bool by_a_loop) {
    run_test([by_a_loop]() -> task<> {
      auto pair = gyre::unix_stream::pair();
      co_await pair.second.write_all("x");
      gyre::buffer_lease lease = co_await pair.first.receive();
      std::thread([&] {
        if (!by_a_loop) return lease.release();
        gyre::run([&]() -> task<> {
          lease.release();
          co_return;
        });
      }).join();
    });
  };
  const char* const sentence =
      "a buffer_lease was given back on the thread of another loop: copy the bytes that other threads need, or give "
      "the lease back in a task of its own loop";
  EXPECT_DEATH(release(true), sentence);
  EXPECT_DEATH(release(false), sentence);
}

TEST(other_loop_threads, a_thread_may_look_at_a_received_buffer_while_its_task_waits) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> task<> {
    co_await pair.second.write_all("x");
    gyre::buffer_lease lease = co_await pair.first.receive();
    auto look = [&lease] { return std::string(lease.text()); };
    const std::string seen = co_await gyre::to_thread(look);
    EXPECT_EQ(seen, "x");
  });
}
