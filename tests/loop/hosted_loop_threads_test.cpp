// tests/loop/hosted_loop_threads_test.cpp: a loop that the loop of another library calls.
#include <gyre/loop/event_loop.hpp>

#include "tests/support/virtual_run.hpp"

#include <poll.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <thread>

using namespace gyre_test;

namespace {

/// The other library: it waits for descriptors with poll(2), and calls gyre as its documentation says.
class host {
 public:
  int waits = 0;
  int turns = 0;

  void run_until(const bool& done) {
    for (;;) {
      ++turns;
      const auto rest = loop.turn_in_host();
      if (done) return;
      wait(rest);
    }
  }

  gyre::event_loop loop;

 private:
  void wait(std::optional<std::chrono::nanoseconds> rest) {
    if (rest == std::chrono::nanoseconds(0)) return;
    ++waits;
    pollfd watched{.fd = loop.descriptor(), .events = POLLIN, .revents = 0};
    const auto milliseconds = rest ? std::chrono::ceil<std::chrono::milliseconds>(*rest).count() : -1;
    ::poll(&watched, 1, static_cast<int>(milliseconds));
  }
};

}  // namespace

TEST(hosted_loop_threads, tasks_timers_and_sockets_work_while_the_host_waits) {
  host other;
  bool done = false;
  auto serve = [](gyre::tcp_stream peer) -> gyre::task<> {
    std::array<std::byte, 16> bytes{};
    while (const std::size_t n = co_await peer.read_some(bytes)) co_await peer.write_all(std::span(bytes).first(n));
  };
  auto work = [&]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto server = gyre::spawn([&]() -> gyre::task<> { co_await listener.serve(serve); });
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    for (int i = 0; i < 100; ++i) {
      co_await client.write_all("ping");
      std::array<std::byte, 4> answer{};
      co_await client.read_exactly(answer);
    }
    co_await gyre::sleep(2ms);
    EXPECT_EQ(co_await gyre::to_thread([] { return 7; }), 7);
    co_await client.close();
    server.cancel();
    co_await server.wait();
    done = true;
  };
  auto task = gyre::spawn(work());
  other.run_until(done);
  EXPECT_GT(other.waits, 0);
  task.detach();
}

TEST(hosted_loop_threads, the_host_waits_for_ever_when_nothing_is_to_be_done) {
  host other;
  EXPECT_EQ(other.loop.turn_in_host(), std::nullopt);
  auto task = gyre::spawn(gyre::as_task(gyre::sleep(1h)));
  std::optional<std::chrono::nanoseconds> rest = other.loop.turn_in_host();
  while (rest == std::chrono::nanoseconds(0)) rest = other.loop.turn_in_host();
  ASSERT_TRUE(rest.has_value());
  EXPECT_LE(*rest, 1h);
  task.cancel();
  bool ended = false;
  auto joins = [&]() -> gyre::task<> {
    co_await task.wait();
    ended = true;
  };
  gyre::spawn(joins()).detach();
  other.run_until(ended);
}

TEST(hosted_loop_threads, a_function_that_another_thread_posts_wakes_the_host) {
  host other;
  for (int round = 0; round < 50; ++round) {
    bool done = false;
    EXPECT_EQ(other.loop.turn_in_host(), std::nullopt);
    std::thread poster([&] { other.loop.post([&] { done = true; }); });
    other.run_until(done);
    poster.join();
    while (other.loop.turn_in_host()) {
    }
  }
  EXPECT_LE(other.turns, 50 * 10);
}

TEST(hosted_loop_threads, a_sleeping_host_takes_few_turns) {
  host other;
  bool done = false;
  auto work = [&]() -> gyre::task<> {
    for (int i = 0; i < 5; ++i) co_await gyre::sleep(3ms);
    done = true;
  };
  gyre::spawn(work()).detach();
  other.run_until(done);
  EXPECT_LE(other.turns, 60);
}

TEST(hosted_loop_threads, virtual_time_and_a_guest_of_its_own_are_refused) {
  {
    gyre::loop_options options;
    options.virtual_time = true;
    gyre::event_loop loop(options);
    EXPECT_THROW((void)loop.descriptor(), std::logic_error);
    EXPECT_THROW((void)loop.turn_in_host(), std::logic_error);
  }
  struct idle_guest : gyre::guest_loop {
    void poll() noexcept override {}
    void wait(int descriptor, gyre::io::monotonic_time deadline) noexcept override {
      wait_for_descriptor(descriptor, deadline);
    }
  } guest;
  gyre::event_loop loop;
  loop.drive(guest);
  EXPECT_THROW((void)loop.turn_in_host(), std::logic_error);
  loop.leave(guest);
  EXPECT_NO_THROW((void)loop.turn_in_host());
}
