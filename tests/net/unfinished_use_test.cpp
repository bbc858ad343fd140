// tests/net/unfinished_use_test.cpp: sockets that two tasks use at once, or that are destroyed while a task waits on
// them, stop the program with a message.
#include <gyre/net/datagram_state.hpp>

#include <gyre/gyre.hpp>

#include "tests/net/connected_pair.hpp"

#include <array>
#include <memory>
#include <string>

using namespace gyre_test;
using gyre::task;

namespace {

task<> await_copy(gyre::unix_datagram& socket) {
  std::array<std::byte, 8> buffer;
  (void)co_await socket.receive_from(buffer);
}
task<> await_lease(gyre::unix_datagram& socket) { (void)co_await socket.receive(); }

/// Runs both at once.
template <class First, class Second>
void run_both(First first, Second second) {
  gyre::run([&]() -> task<> {
    auto pair = gyre::unix_datagram::pair();
    auto waiting = gyre::spawn(first(pair.first));
    co_await settle();
    co_await second(pair.first);
  });
}

/// Destroys the object that `make` returns while `use` waits on it.
template <class Make, class Use>
void destroy_in_use(Make make, Use use) {
  gyre::run([&]() -> task<> {
    auto object = std::make_unique<decltype(make())>(make());
    auto using_it = gyre::spawn(use(*object));
    co_await settle();
    object.reset();
    co_await using_it;
  });
}

}  // namespace

TEST(unfinished_use, two_tasks_that_receive_from_one_datagram_socket_stop_the_program) {
  const char* const sentence = "two tasks receive from one datagram socket at the same time: let one task receive";
  EXPECT_DEATH(run_both(await_copy, await_copy), sentence);
  EXPECT_DEATH(run_both(await_lease, await_lease), sentence);
  EXPECT_DEATH(run_both(await_copy, await_lease), sentence);
}

TEST(unfinished_use, a_datagram_socket_that_is_destroyed_while_a_task_waits_stops_the_program) {
  const char* const sentence =
      "a datagram socket was destroyed while another task sends or receives with it: cancel and await that task first";
  const auto make = [] { return gyre::unix_datagram::pair(); };
  const auto receive = [](gyre::unix_datagram_pair& both) -> task<> { co_await await_lease(both.first); };
  const auto send = [](gyre::unix_datagram_pair& both) -> task<> {
    const std::string large(50'000, 'x');  // few of them fill the buffer, so the task soon waits
    for (;;) co_await both.first.send(large);
  };
  EXPECT_DEATH(destroy_in_use(make, receive), sentence);
  EXPECT_DEATH(destroy_in_use(make, send), sentence);
}

TEST(unfinished_use, a_stream_that_is_destroyed_while_a_task_waits_stops_the_program) {
  const char* const sentence =
      "a stream was destroyed while another task reads from it or writes to it: cancel and await that task first";
  const auto make = [] { return gyre::unix_stream::pair(); };
  const auto read = [](auto& both) -> task<> { (void)co_await both.first.receive(); };
  const auto write = [](auto& both) -> task<> {
    const std::string much(10'000'000, 'x');
    co_await both.first.write_all(much);
  };
  EXPECT_DEATH(destroy_in_use(make, read), sentence);
  EXPECT_DEATH(destroy_in_use(make, write), sentence);
}

TEST(unfinished_use, a_listener_that_is_destroyed_while_a_task_accepts_stops_the_program) {
  const auto make = [] { return gyre::tcp_listener::bind("127.0.0.1:0"); };
  const auto accept = [](gyre::tcp_listener& listener) -> task<> { (void)co_await listener.accept(); };
  EXPECT_DEATH(destroy_in_use(make, accept),
               "a listener was destroyed while a task waits in its accept: cancel and await that task first");
}
