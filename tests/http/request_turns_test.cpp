// tests/http/request_turns_test.cpp: a client that pipelines many requests does not keep others from being served.
#include <gyre/http/server.hpp>

#include "tests/http/pipelined.hpp"
#include "tests/http/socket_server.hpp"
#include "tests/support/seeds.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

constexpr int all_requests = 1'000;
constexpr int max_in_turn = 32;

enum class kind { prompt, coroutine, slow_now_and_then, observed };
constexpr kind all_kinds[] = {kind::prompt, kind::coroutine, kind::slow_now_and_then, kind::observed};

/// Answers "/N" with N, and records how many requests it answers between two turns of another task.
struct counted_requests {
  explicit counted_requests(kind k) : of(k) {}

  http::server_options options() {
    http::server_options all = options_for(routes());
    all.limits.requests_per_connection = 1'000'000;
    if (of == kind::observed) all.observer = &heard;
    return all;
  }

  http::handler routes() {
    if (of == kind::prompt || of == kind::observed) return [this](http::request& r) { return answer(r); };
    return [this](http::request& r) -> gyre::task<response> {
      response made = answer(r);
      if (of == kind::slow_now_and_then && handled % 7 == 0) co_await gyre::yield();
      co_return made;
    };
  }

  response answer(const http::request& r) {
    ++handled;
    most = std::max(most, ++since_others);
    return response::text(std::string(r.path().substr(1)));
  }

  /// Runs `body` beside another task, which is always ready. `each_turn()` runs in that task.
  template <class Body>
  gyre::task<> run_with_others(Body body) {
    auto others = [this]() -> gyre::task<> {
      for (;;) {
        if (std::exchange(since_others, 0) > 0) ++turns;
        each_turn();
        co_await gyre::yield();
      }
    };
    auto beside = gyre::spawn(others);
    co_await body();
    each_turn = [] {};  // it may have used objects of the body
  }

  kind of;
  int handled = 0;
  int since_others = 0;
  int most = 0;   // requests between two turns of the other task
  int turns = 0;  // of the other task after requests
  exchange_log heard;
  std::function<void()> each_turn = [] {};
};

/// Runs `body(counted_requests&, socket_server&)` for each kind of handler.
template <class Body>
void run_on_sockets_for_all_kinds(Body body) {
  for (const kind each : all_kinds) {
    counted_requests app(each);
    SCOPED_TRACE(static_cast<int>(each));
    run_on_sockets(app.options(), [&](socket_server& here) -> gyre::task<> {
      auto run = [&]() -> gyre::task<> { co_await body(app, here); };
      co_await app.run_with_others(run);
    });
  }
}

}  // namespace

TEST(request_turns, other_tasks_run_after_32_pipelined_requests) {
  for (const kind each : all_kinds) {
    for (const bool in_memory : connections_in_memory()) {
      counted_requests app(each);
      run_with_client(in_memory, app.options(), [&](auto&, auto& client) -> gyre::task<> {
        auto pipeline = [&]() -> gyre::task<> {
          co_await client.send(pipelined(all_requests));
          co_await expect_answers(client, 0, all_requests);
        };
        co_await app.run_with_others(pipeline);
      });
      EXPECT_EQ(app.handled, all_requests);
      EXPECT_LE(app.most, max_in_turn);
    }
  }
}

// The bytes of the second client are in the kernel while the first requests of the first are answered. The loop notices
// them when it next polls the kernel, behind the rest of the first client's requests.
TEST(request_turns, the_request_of_another_client_waits_for_at_most_two_turns) {
  if (over_tls()) GTEST_SKIP() << "this client writes plain text to its socket";
  for (const bool prompt : {true, false}) {
    int handled = 0;
    int handled_before_other = -1;
    int other = -1;
    auto answer = [&](const http::request& r) {
      if (r.path() == "/other") handled_before_other = handled;
      if (r.path() == "/0") EXPECT_EQ(::send(other, "\n", 1, MSG_NOSIGNAL), 1);
      if (r.path() != "/other") ++handled;
      return response::text(std::string(r.path().substr(1)));
    };
    http::handler routes = [&](http::request& r) { return answer(r); };
    if (!prompt) routes = [&](http::request& r) -> gyre::task<response> { co_return answer(r); };
    run_on_sockets(options_for(std::move(routes)), [&](socket_server& here) -> gyre::task<> {
      auto second = co_await here.connect();
      co_await second.send("GET /other HTTP/1.1\r\nHost: a\r\n\r");  // without its last byte
      auto first = co_await here.connect();
      co_await gyre::sleep(20ms);  // the server has taken the first part
      other = second.stream().native_descriptor();
      const std::string requests = pipelined(all_requests);
      EXPECT_EQ(::send(first.stream().native_descriptor(), requests.data(), requests.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(requests.size()));
      const http_answer answer = co_await second.answer();
      EXPECT_EQ(answer.body, "other");
      EXPECT_GE(handled_before_other, 1);
      EXPECT_LE(handled_before_other, 2 * max_in_turn);
      co_await expect_answers(first, 0, all_requests);
    });
  }
}

TEST(request_turns, answers_leave_at_the_end_of_each_turn) {
  if (over_tls()) GTEST_SKIP() << "this client writes plain text to its socket";
  run_on_sockets_for_all_kinds([](counted_requests& app, socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    std::string seen;
    app.each_turn = [&] {
      char buffer[65'536];
      const auto size = ::recv(client.stream().native_descriptor(), buffer, sizeof(buffer), MSG_DONTWAIT);
      if (size > 0) seen.append(buffer, static_cast<std::size_t>(size));
      const int late = max_in_turn + 1;
      const std::string oldest = "\r\n\r\n" + std::to_string(app.handled - 1 - late) + "HTTP/1.1";
      if (app.handled > late && app.handled < all_requests)
        EXPECT_NE(seen.find(oldest), std::string::npos) << app.handled;
    };
    const std::string requests = pipelined(all_requests);
    EXPECT_EQ(::send(client.stream().native_descriptor(), requests.data(), requests.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(requests.size()));
    while (app.handled < all_requests) co_await gyre::yield();
    EXPECT_GE(app.turns, all_requests / max_in_turn);
  });
}

TEST(request_turns, many_clients_that_pipeline_all_get_their_answers_in_order) {
  for_each_seed(4, [](unsigned seed) {
    choices random(seed);
    counted_requests app(all_kinds[random.below(4)]);
    run_on_sockets(app.options(), [&](socket_server& here) -> gyre::task<> {
      auto run_client = [&](int count, std::size_t piece) -> gyre::task<> {
        auto client = co_await here.connect();
        const std::string requests = pipelined(count);
        auto send = [&]() -> gyre::task<> {
          for (std::size_t at = 0; at < requests.size(); at += piece) {
            co_await client.send(requests.substr(at, piece));
            if (random.one_in(3)) co_await gyre::yield();
          }
        };
        auto sending = gyre::spawn(send);
        co_await expect_answers(client, 0, count);
        co_await sending;
      };
      int expected = 0;
      std::vector<gyre::task_handle<void>> clients;
      for (int n = 0; n < 12; ++n) {
        const int count = static_cast<int>(random.size_up_to(600));
        expected += count;
        const std::size_t piece = random.one_in(4) ? random.between(1, 60) : random.between(61, 20'000);
        clients.push_back(gyre::spawn(run_client(count, piece)));
      }
      auto wait = [&]() -> gyre::task<> {
        for (auto& each : clients) co_await each;
      };
      co_await app.run_with_others(wait);
      EXPECT_EQ(app.handled, expected);
    });
  });
}

// ---- ends between two turns

TEST(request_turns, a_connection_cancelled_between_two_turns_has_sent_whole_answers_in_order) {
  for (const kind each : all_kinds) {
    for (const int turn : {1, 2, 5, 20}) {
      counted_requests app(each);
      run_virtual([&]() -> gyre::task<> {
        given_connection here(app.options());
        app.each_turn = [&] {
          if (app.turns == turn && app.handled < all_requests) here.serving.cancel();
        };
        auto pipeline = [&]() -> gyre::task<> {
          co_await here.client.send(pipelined(all_requests));
          const int count = co_await answers_until_end(here.client, false);
          co_await here.serving.wait();
          EXPECT_LT(app.handled, all_requests);
          EXPECT_LE(count, app.handled);
          EXPECT_GE(count, app.handled - max_in_turn);  // those of the cancelled write
          EXPECT_EQ(here.server.connections(), 0U);
        };
        co_await app.run_with_others(pipeline);
      });
    }
  }
}

TEST(request_turns, a_server_that_drains_between_two_turns_answers_every_request_that_it_has_begun) {
  run_on_sockets_for_all_kinds([](counted_requests& app, socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    app.each_turn = [&] {
      if (app.turns == 3) here.tell_to_stop();
    };
    co_await client.send(pipelined(all_requests));
    const int count = co_await answers_until_end(client, true);
    EXPECT_EQ(count, app.handled);
    EXPECT_FALSE(client.was_reset());
    EXPECT_LT(count, all_requests);
    client.close();
    co_await here.stopped();
  });
}

TEST(request_turns, a_client_that_finishes_sending_between_two_turns_gets_all_answers) {
  run_on_sockets_for_all_kinds([](counted_requests& app, socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    app.each_turn = [&] {
      if (app.turns == 3) ::shutdown(client.stream().native_descriptor(), SHUT_WR);
    };
    co_await client.send(pipelined(all_requests));
    const int count = co_await answers_until_end(client, false);
    EXPECT_EQ(count, all_requests);
    EXPECT_EQ(app.handled, all_requests);
  });
}

TEST(request_turns, a_client_that_resets_between_two_turns_ends_its_connection_alone) {
  run_on_sockets_for_all_kinds([](counted_requests& app, socket_server& here) -> gyre::task<> {
    auto other = co_await here.connect();
    auto client = co_await here.connect();
    app.each_turn = [&] {
      if (app.turns == 3 && client.stream().is_open()) reset(client);
    };
    co_await client.send(pipelined(all_requests));
    while (here.server().connections() != 1) co_await gyre::sleep(1ms);
    EXPECT_LE(app.handled, all_requests);
    co_await other.send(pipelined(100));
    co_await expect_answers(other, 0, 100);
  });
}

TEST(request_turns, the_limit_of_requests_per_connection_ends_a_connection_in_any_turn) {
  for (const int limit : {31, 32, 33, 64, 65, 100}) {
    counted_requests app(kind::prompt);
    http::server_options options = app.options();
    options.limits.requests_per_connection = static_cast<std::size_t>(limit);
    run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
      auto client = co_await here.connect();
      co_await client.send(pipelined(all_requests));
      const int count = co_await answers_until_end(client, true);
      EXPECT_EQ(count, limit);
      EXPECT_EQ(app.handled, limit);
    });
  }
}
