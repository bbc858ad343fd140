// tests/net/other_loop_threads_test.cpp: using an object of one loop in a task of another thread's loop stops the
// program with a message.
#include "tests/net/connected_pair.hpp"

#include <fcntl.h>

#include <array>
#include <string>
#include <thread>

using namespace gyre_test;
using gyre::task;

namespace {

std::array<std::byte, 4> room;

/// Makes an object on one loop and uses it on the loop of another thread.
template <class Make, class Use>
void use_elsewhere(Make make, Use use) {
  gyre::run([&]() -> task<> {
    auto object = make();
    std::thread([&] { gyre::run([&]() -> task<> { co_await use(object); }); }).join();
    co_return;
  });
}

std::string elsewhere(const char* operation, const char* object) {
  return std::string(operation) + " on " + object +
         " that belongs to the loop of another thread: use it in a task of its own loop, which "
         "run_coroutine_threadsafe starts";
}

}  // namespace

TEST(other_loop_threads, a_task_that_waits_for_a_stream_of_another_loop_stops_the_program) {
  const char* const stream = "a TCP or Unix stream";
  const auto make = [] { return gyre::unix_stream::pair(); };
  EXPECT_DEATH(use_elsewhere(make, [](auto& p) -> task<> { (void)co_await p.first.read_some(std::span(room)); }),
               elsewhere("read_some", stream));
  EXPECT_DEATH(use_elsewhere(make, [](auto& p) -> task<> { (void)co_await p.first.receive(); }),
               elsewhere("receive", stream));
  EXPECT_DEATH(use_elsewhere(make, [](auto& p) -> task<> { (void)co_await p.first.receive_descriptors(room); }),
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
      auto here = gyre::spawn([&]() -> task<> { (void)co_await pair.first.read_some(std::span(room)); });
      co_await settle();
      std::thread([&] { gyre::run([&]() -> task<> { (void)co_await pair.first.read_some(std::span(room)); }); }).join();
      co_await here;
    });
  };
  EXPECT_DEATH(read_on_both(), elsewhere("read_some", "a TCP or Unix stream"));
}

TEST(other_loop_threads, a_task_that_waits_for_a_datagram_socket_of_another_loop_stops_the_program) {
  const char* const socket = "a datagram socket";
  const auto make = [] { return gyre::udp_socket::bind("127.0.0.1:0"); };
  EXPECT_DEATH(use_elsewhere(make, [](auto& s) -> task<> { (void)co_await s.receive_from(room); }),
               elsewhere("receive_from", socket));
  EXPECT_DEATH(use_elsewhere(make, [](auto& s) -> task<> { (void)co_await s.receive(); }),
               elsewhere("receive", socket));
}

TEST(other_loop_threads, a_task_that_waits_for_a_file_of_another_loop_stops_the_program) {
  const auto make = [] {
    gyre::pipe_descriptors ends = gyre::open_pipe();
    return std::pair(gyre::fs::file::from_fd(ends.reader.release(), "pipe"), std::move(ends.writer));
  };
  EXPECT_DEATH(use_elsewhere(make, [](auto& p) -> task<> { (void)co_await p.first.read_some(std::span(room)); }),
               elsewhere("read_some", "a file"));
}

TEST(other_loop_threads, a_task_that_waits_for_a_listener_of_another_loop_stops_the_program) {
  const auto make = [] { return gyre::tcp_listener::bind("127.0.0.1:0"); };
  EXPECT_DEATH(use_elsewhere(make, [](auto& l) -> task<> { (void)co_await l.accept(); }),
               elsewhere("accept", "a listener"));
}

TEST(other_loop_threads, a_memory_stream_that_two_loops_use_stops_the_program) {
  const auto use_both = [] {
    gyre::run([]() -> task<> {
      gyre::memory_pair pair;
      (void)co_await pair.first.write_all(room);
      std::thread([&] {
        gyre::run([&]() -> task<> { (void)co_await pair.second.read_some(std::span(room)); });
      }).join();
    });
  };
  EXPECT_DEATH(use_both(), elsewhere("read_some", "a memory_stream"));
}

TEST(other_loop_threads, a_file_that_was_opened_without_a_loop_belongs_to_the_one_that_uses_it) {
  gyre::fs::file null = gyre::fs::file::from_fd(::open("/dev/zero", O_RDWR | O_CLOEXEC), "zero");
  run_test([&]() -> task<> {
    gyre::fs::file mine = std::move(null);
    EXPECT_EQ(co_await mine.read_some(std::span(room)), room.size());
  });
}
