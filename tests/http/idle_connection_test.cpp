// tests/http/idle_connection_test.cpp: connections that wait for a request are no coroutines, and behave as others do.
#include <gyre/http/server.hpp>
#include <gyre/http/shared_connection_count.hpp>
#include <gyre/loop/waiting_tasks.hpp>

#include "tests/http/socket_server.hpp"
#include "tests/support/seeds.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

gyre::task<response> slow(http::request& asked) {
  co_await gyre::yield();
  co_await gyre::yield();
  co_return response::text(std::string(asked.path()));
}

gyre::task<response> never_answers(http::request&) {
  co_await forever();
  co_return response::text("never");
}

http::router routes() {
  http::router all;
  all.get("/", [](http::request&) { return response::text("hello"); });
  all.get("/slow", slow);
  all.get("/endless", never_answers);
  all.post("/", [](http::request& asked) -> gyre::task<response> {
    co_return response::text(co_await asked.body().read_all());
  });
  return all;
}

/// Lets the loop run until `condition()` holds.
template <class Condition>
gyre::task<> until(Condition condition) {
  while (!condition()) co_await gyre::sleep(1ms);
}

std::string list_of_tasks() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = ::open_memstream(&text, &size);
  gyre::print_waiting_tasks(gyre::event_loop::current().root_scope(), out);
  std::fclose(out);
  std::string result(text, size);
  std::free(text);  // NOLINT
  return result;
}

}  // namespace

TEST(idle_connection, is_in_the_list_of_tasks_with_the_address_of_its_client_and_the_place_where_it_waits) {
  run_on_sockets(options_for(routes()), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    for (const char* each : {"/", "/slow"}) {
      (void)co_await client.ask(get_request(each));
      const std::string name = client.stream().local_address().string() + ", spawned at ";
      co_await until([&] { return list_of_tasks().find("socket_connection.cpp") != std::string::npos; });
      const std::string tasks = list_of_tasks();
      EXPECT_NE(tasks.find(name), std::string::npos) << tasks;
    }
  });
}

TEST(idle_connection, notices_that_its_client_has_left) {
  run_on_sockets(options_for(routes()), [](socket_server& here) -> gyre::task<> {
    for (const bool by_reset : {false, true}) {
      auto client = co_await here.connect();
      (void)co_await client.ask(get_request("/slow") + get_request("/"));
      (void)co_await client.answer();
      EXPECT_EQ(here.server().connections(), 1U);
      if (by_reset)
        reset(client);
      else
        client.close();
      co_await until([&] { return here.server().connections() == 0; });
    }
  });
}

TEST(idle_connection, ends_after_its_time_limit_which_each_request_renews) {
  http::server_options options = options_for(routes());
  options.timeouts.idle = 300ms;
  run_on_sockets(std::move(options), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    const auto begin = gyre::now();
    for (int i = 0; i < 10; ++i) {
      const auto answer = co_await client.ask(get_request(i % 2 == 0 ? "/" : "/slow"));
      EXPECT_EQ(answer.status, 200);
      co_await gyre::sleep(50ms);
    }
    EXPECT_GT(since(begin), 400ms);
    const auto last = gyre::now();
    co_await client.expect_end();
    EXPECT_FALSE(client.was_reset());
    EXPECT_GE(since(last), 200ms);
    EXPECT_LT(since(last), 30s);
  });
}

TEST(idle_connection, a_client_that_sends_only_empty_lines_ends_after_one_time_limit) {
  http::server_options options = options_for(routes());
  options.timeouts.idle = 200ms;
  run_on_sockets(std::move(options), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    (void)co_await client.ask(get_request("/"));
    const auto begin = gyre::now();
    auto lines = [&]() -> gyre::task<> {
      try {
        for (;;) {
          co_await client.send("\r\n");
          co_await gyre::sleep(20ms);
        }
      } catch (const gyre::io_error&) {  // the connection has ended
      }
    };
    co_await lines();
    EXPECT_GE(since(begin), 200ms);
    EXPECT_LT(since(begin), 10s) << "not the limit of the first request, 15 s";
  });
}

TEST(idle_connection, gives_its_place_to_another_when_it_ends) {
  if (over_tls()) GTEST_SKIP() << "over TLS, a connection too many is closed without an answer";
  http::shared_connection_count counted;
  http::server_options options = options_for(routes());
  options.limits.connections = 2;
  options.limits.connections_per_address = 1;
  options.counted_with = &counted;
  run_on_sockets(std::move(options), [](socket_server& here) -> gyre::task<> {
    for (int i = 0; i < 3; ++i) {
      auto client = co_await here.connect();
      const auto served = co_await client.ask(get_request("/"));
      EXPECT_EQ(served.status, 200);
      auto second = co_await here.connect();
      const auto refused = co_await second.answer();
      EXPECT_EQ(refused.status, 503);
      (void)co_await second.rest();
      second.close();
      client.close();
      co_await until([&] { return here.server().connections() == 0; });
    }
  });
}

TEST(idle_connection, answers_more_requests_at_once_than_a_task_may_take_in_a_turn) {
  run_on_sockets(options_for(routes()), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    std::string many;
    for (int i = 0; i < 2'000; ++i) many += get_request(i % 100 == 99 ? "/slow" : "/");
    auto sending = gyre::spawn([&]() -> gyre::task<> { co_await client.send(many); });
    for (int i = 0; i < 2'000; ++i) {
      const auto answer = co_await client.answer();
      EXPECT_EQ(answer.body, i % 100 == 99 ? "/slow" : "hello");
    }
    co_await sending.wait();
  });
}

TEST(idle_connection, whose_bytes_come_in_pieces_takes_them_as_one_request) {
  run_on_sockets(options_for(routes()), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    const std::string request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";
    for (std::size_t cut = 1; cut < request.size(); ++cut) {
      co_await client.send(request.substr(0, cut));
      co_await gyre::yield();
      const auto answer = co_await client.ask(request.substr(cut));
      EXPECT_EQ(answer.body, "body");
    }
  });
}

TEST(idle_connection, is_cancelled_at_once_together_with_the_loop) {
  run_real([]() -> gyre::task<> {
    http::server_options options = options_for(routes());
    options.timeouts.last_request = std::chrono::hours(1);
    options.timeouts.drain = 0ms;
    socket_server here(std::move(options));
    auto idle = co_await here.connect();
    (void)co_await idle.ask(get_request("/slow"));
    auto busy = co_await here.connect();
    (void)co_await busy.ask(get_request("/") + get_request("/endless"));
    here.tell_to_stop();
    co_await here.stopped();
    EXPECT_EQ(here.server().connections(), 0U);
    co_await idle.expect_end();
  });
}

namespace {

/// A client that sends random requests, rests at random, and leaves in a random way.
gyre::task<> random_client(socket_server& here, unsigned seed, bool& stopping) {
  choices random(seed);
  try {
    auto client = co_await here.connect();
    for (std::size_t left = random.between(0, 12); left > 0; --left) {
      const std::size_t depth = random.between(1, 5);
      std::string requests;
      std::vector<std::string> bodies;
      for (std::size_t i = 0; i < depth; ++i) {
        const std::size_t kind = random.below(4);
        if (kind == 0) requests += "\r\n";
        requests += kind < 2    ? get_request("/")
                    : kind == 2 ? get_request("/slow")
                                : "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";
        bodies.emplace_back(kind < 2 ? "hello" : kind == 2 ? "/slow" : "body");
      }
      const std::size_t cut = random.below(requests.size());
      co_await client.send(requests.substr(0, cut));
      if (random.one_in(3)) co_await gyre::yield();
      co_await client.send(requests.substr(cut));
      if (random.one_in(12)) {
        reset(client);
        co_return;
      }
      for (const std::string& expected : bodies) {
        const auto answer = co_await client.answer();
        EXPECT_EQ(answer.body, expected);
      }
      if (random.one_in(2)) co_await gyre::sleep(std::chrono::milliseconds(random.below(4)));
    }
    if (random.one_in(4)) co_await client.send(get_request("/endless"));
    if (random.one_in(2)) (void)co_await client.rest();
  } catch (const std::exception&) {
    // Without a stop, only the idle limit ends a connection, and only one that sends nothing for that long.
    if (!stopping) throw;
  }
}

}  // namespace

TEST(idle_connection, random_clients_leave_nothing_behind_whenever_the_server_stops) {
  for_each_seed(30, [](unsigned seed) {
    run_real([&]() -> gyre::task<> {
      choices random(seed);
      http::server_options options = options_for(routes());
      options.timeouts.idle = 2s;
      options.timeouts.last_request = std::chrono::milliseconds(random.below(5));
      options.timeouts.drain = std::chrono::milliseconds(random.below(20));
      socket_server here(std::move(options));
      bool stopping = false;
      std::vector<gyre::task_handle<void>> clients;
      for (unsigned i = 0; i < 20; ++i) clients.push_back(gyre::spawn(random_client(here, seed * 100 + i, stopping)));
      co_await gyre::sleep(std::chrono::milliseconds(random.below(40)));
      stopping = true;
      here.tell_to_stop();
      co_await here.stopped();
      EXPECT_EQ(here.server().connections(), 0U);
      for (auto& each : clients) co_await each;
    });
  });
}
