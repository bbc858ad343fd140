// tests/loop/event_loop_test.cpp: turns, sleep, yield, post, budget and shutdown.
#include <gyre/loop/event_loop.hpp>

#include "tests/support/virtual_run.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <thread>

using namespace gyre_test;

namespace {

/// Returns whether a reader has its byte after the byte was sent and `pause` was awaited a few times.
template <class Pause>
bool is_read_during(Pause pause) {
  bool was_read = false;
  gyre::run([&]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    auto server = co_await listener.accept();
    bool has_read = false;
    auto reader = gyre::spawn([&]() -> gyre::task<> {
      (void)co_await server.receive();
      has_read = true;
    });
    co_await gyre::sleep(1ms);
    EXPECT_EQ(::send(client.native_descriptor(), "x", 1, 0), 1);
    for (int i = 0; i < 8; ++i) co_await pause(client);
    was_read = has_read;
    co_await reader;
  });
  return was_read;
}

}  // namespace

TEST(yield_turn, lets_the_io_of_others_go_on) {
  EXPECT_TRUE(is_read_during([](gyre::tcp_stream&) { return gyre::yield_turn(); }));
}

TEST(event_loop, a_task_that_has_used_up_its_budget_for_io_lets_the_io_of_others_go_on) {
  EXPECT_TRUE(is_read_during([](gyre::tcp_stream& stream) -> gyre::task<> {
    std::array<char, 1> byte{'x'};
    for (int i = 0; i < 64; ++i) (void)co_await stream.write_some(std::as_bytes(std::span(byte)));
  }));
}

TEST(event_loop, one_sleep_is_one_wait_in_the_kernel) {
  gyre::run([]() -> gyre::task<> {
    co_await gyre::yield();
    const std::uint64_t before = gyre::event_loop::current().waits();
    co_await gyre::sleep(20ms);
    EXPECT_LE(gyre::event_loop::current().waits() - before, 2U);
  });
}

TEST(event_loop, options_without_a_meaning_are_refused) {
  EXPECT_THROW(gyre::event_loop({.ready_per_turn = 0}), std::invalid_argument);
  EXPECT_THROW(gyre::event_loop({.busy_poll = -1ns}), std::invalid_argument);
}

TEST(event_loop, busy_poll_finds_what_comes_without_a_sleep) {
  auto body = []() -> gyre::task<> {
    gyre::event_loop& loop = gyre::event_loop::current();
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    auto server = co_await listener.accept();
    const std::uint64_t before = loop.waits();

    std::thread sender([fd = client.native_descriptor()] { EXPECT_EQ(::send(fd, "x", 1, 0), 1); });
    const gyre::buffer_lease received = co_await server.receive();
    EXPECT_EQ(received.size(), 1U);
    sender.join();

    gyre::event posted;
    std::thread poster([&] { loop.post([&]() noexcept { posted.set(); }); });
    co_await posted.wait();
    poster.join();

    const auto begin = std::chrono::steady_clock::now();
    co_await gyre::sleep(2ms);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 2ms);
    EXPECT_EQ(loop.waits(), before);
  };
  gyre::run(body(), {.loop = {.busy_poll = 1h}});
}

TEST(event_loop, busy_poll_sleeps_when_nothing_has_come_for_as_long) {
  auto body = []() -> gyre::task<> {
    const std::uint64_t before = gyre::event_loop::current().waits();
    co_await gyre::sleep(20ms);
    const std::uint64_t sleeps = gyre::event_loop::current().waits() - before;
    EXPECT_GE(sleeps, 1U);
    EXPECT_LE(sleeps, 2U);
  };
  gyre::run(body(), {.loop = {.busy_poll = 10us}});
}

TEST(event_loop, a_task_that_always_yields_starves_neither_timers_nor_io) {
  gyre::run([]() -> gyre::task<> {
    bool stop = false;
    auto busy = gyre::spawn([&]() -> gyre::task<> {
      while (!stop) co_await gyre::yield();
    });
    co_await gyre::sleep(5ms);
    stop = true;
    co_await busy;
  });
}

TEST(event_loop, a_task_whose_operations_are_always_ready_lets_others_run) {
  gyre::run([]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    auto server = co_await listener.accept();
    bool stop = false;
    auto reader = gyre::spawn([&]() -> gyre::task<> {
      while (const gyre::buffer_lease lease = co_await server.receive()) {
      }
    });
    // Small writes always find room, so this loop never suspends for them.
    auto writer = gyre::spawn([&]() -> gyre::task<> {
      while (!stop) co_await client.write_all("x");
      co_await client.shutdown_write();
    });
    co_await gyre::sleep(5ms);
    stop = true;
    co_await writer;
    co_await reader;
  });
}

TEST(event_loop, shutdown_cancels_what_is_left_and_waits_for_it) {
  bool cleaned_up = false;
  run_virtual([&]() -> gyre::task<> {
    gyre::spawn([&]() -> gyre::task<> {
      auto clean_up = [&]() -> gyre::task<> {
        co_await gyre::sleep(10ms);
        cleaned_up = true;
      };
      bool cancelled = false;
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        cancelled = true;
      }
      if (cancelled) co_await gyre::shield(clean_up);
    }).detach();
    co_await gyre::sleep(1ms);
  });
  EXPECT_TRUE(cleaned_up);
}

TEST(event_loop, a_background_exception_reaches_the_handler_with_name_and_place) {
  static std::string name;
  static std::string file;
  static std::string what;
  run_virtual([]() -> gyre::task<> {
    gyre::event_loop::current().set_exception_handler(
        [](const gyre::background_failure& failure, void*) noexcept {
          name = failure.task_name;
          file = failure.spawned_at.file_name();
          try {
            std::rethrow_exception(failure.exception);
          } catch (const std::exception& error) {
            what = error.what();
          }
        },
        nullptr);
    gyre::spawn(fail_after(1ms, "lost"), {.name = "background"}).detach();
    co_await gyre::sleep(2ms);
  });
  EXPECT_EQ(name, "background");
  EXPECT_EQ(what, "lost");
  EXPECT_NE(file.find("event_loop_test.cpp"), std::string::npos);
}

TEST(event_loop_threads, posts_from_many_threads_all_arrive_each_threads_in_order) {
  constexpr int threads = 4;
  constexpr int posts = 5'000;
  std::vector<int> last(threads, -1);
  int total = 0;
  bool in_order = true;
  gyre::run([&]() -> gyre::task<> {
    gyre::event_loop& loop = gyre::event_loop::current();
    std::vector<std::thread> posters;
    for (int t = 0; t < threads; ++t)
      posters.emplace_back([&, t] {
        for (int i = 0; i < posts; ++i)
          loop.post([&, t, i] {
            in_order = in_order && last[static_cast<std::size_t>(t)] == i - 1;
            last[static_cast<std::size_t>(t)] = i;
            ++total;
          });
      });
    while (total < threads * posts) co_await gyre::sleep(1ms);
    for (std::thread& each : posters) each.join();
  });
  EXPECT_EQ(total, threads * posts);
  EXPECT_TRUE(in_order);
}

TEST(event_loop_threads, a_post_wakes_a_loop_that_sleeps_for_ever) {
  for (int round = 0; round < 200; ++round) {
    bool done = false;
    gyre::event_loop loop;
    std::thread poster([&] { loop.post([&] { done = true; }); });
    loop.run_until(done);
    poster.join();
  }
}

TEST(event_loop, a_second_loop_on_one_thread_is_refused) {
  gyre::event_loop loop;
  EXPECT_THROW(gyre::event_loop(), std::logic_error);
}

TEST(event_loop_options, with_which_no_task_would_ever_run_are_refused) {
  for (const int count : {0, -1}) {
    gyre::loop_options options;
    options.ready_per_turn = count;
    EXPECT_THROW(gyre::event_loop loop(options), std::invalid_argument);
    EXPECT_EQ(gyre::event_loop::current_or_null(), nullptr);
  }
}

TEST(event_loop_options, with_which_nothing_could_be_received_are_refused) {
  const auto refusal = [](gyre::io::backend_options backend) -> std::string {
    gyre::loop_options options;
    options.backend = backend;
    try {
      const gyre::event_loop loop(options);
    } catch (const std::system_error& error) {
      return error.code() == std::errc::invalid_argument ? error.what() : "another error";
    }
    return "accepted";
  };
  EXPECT_TRUE(refusal({.buffer_count = 0}).starts_with("backend_options::buffer_count: expected 1 to 32768"));
  EXPECT_TRUE(refusal({.buffer_count = 32'769}).starts_with("backend_options::buffer_count"));
  EXPECT_TRUE(refusal({.buffer_size = 0}).starts_with("backend_options::buffer_size"));
  EXPECT_TRUE(refusal({.submission_entries = 0}).starts_with("backend_options::submission_entries"));
  EXPECT_TRUE(refusal({.submission_entries = ~0U}).starts_with("backend_options::submission_entries"));
  EXPECT_TRUE(refusal({.completion_entries = 0}).starts_with("backend_options::completion_entries"));
  EXPECT_EQ(refusal({.submission_entries = 8, .completion_entries = 8, .buffer_count = 3}), "accepted");
}

TEST(event_loop, says_which_backend_it_has_and_why) {
  for (const gyre::io::backend_kind wanted : {gyre::io::backend_kind::automatic, gyre::io::backend_kind::epoll}) {
    gyre::loop_options options;
    options.backend.kind = wanted;
    gyre::event_loop loop(options);
    const std::string_view in_use = loop.backend().name();
    EXPECT_EQ(loop.choice().kind == gyre::io::backend_kind::io_uring, in_use == "io_uring");
    EXPECT_EQ(loop.choice().kind == gyre::io::backend_kind::epoll, in_use == "epoll");
    EXPECT_TRUE(std::string_view(loop.choice().reason).starts_with(in_use)) << loop.choice().reason;
  }
}
