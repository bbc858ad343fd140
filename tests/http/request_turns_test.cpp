// tests/http/request_turns_test.cpp: a client that pipelines many requests does not keep others from being served.
#include <gyre/http/server.hpp>

#include "tests/http/socket_server.hpp"
#include "tests/support/seeds.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

constexpr int all_requests = 1'000;
constexpr int max_in_turn = 32;

enum class kind { prompt, coroutine, slow_now_and_then, observed };
constexpr kind all_kinds[] = {kind::prompt, kind::coroutine, kind::slow_now_and_then, kind::observed};

/// Requests for "/0", "/1", and so on.
std::string pipelined(int count) {
  std::string all;
  for (int n = 0; n < count; ++n) all += "GET /" + std::to_string(n) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  return all;
}

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

  /// Another task, which is always ready. `each_turn(*this)` runs in it.
  template <class Function>
  gyre::task<> run_beside(Function each_turn) {
    for (;;) {
      if (std::exchange(since_others, 0) > 0) ++turns;
      each_turn(*this);
      co_await gyre::yield();
    }
  }

  kind of;
  int handled = 0;
  int since_others = 0;
  int most = 0;   // requests between two turns of the other task
  int turns = 0;  // of the other task after requests
  exchange_log heard;
};

template <class Client>
gyre::task<> expect_answers(Client& client, int begin, int end) {
  for (int n = begin; n < end; ++n) {
    const http_answer answer = co_await client.answer();
    CO_ASSERT_EQ(answer.body, std::to_string(n));
  }
}

/// Reads answers until the connection ends. Returns how many there were. All must be whole and in order.
template <class Client>
gyre::task<int> answers_until_end(Client& client, bool expect_close) {
  const std::string text = co_await client.rest();
  std::string_view left = text;
  int count = 0;
  bool last = false;
  while (!left.empty()) {
    EXPECT_FALSE(last);
    const auto head = left.find("\r\n\r\n");
    const std::string body = std::to_string(count);
    if (head == std::string_view::npos || !left.starts_with("HTTP/1.1 200") ||
        !left.substr(head + 4).starts_with(body)) {
      ADD_FAILURE() << "answer " << count << " of " << text.size() << " bytes: " << left.substr(0, 300);
      break;
    }
    last = left.substr(0, head).find("Connection: close") != std::string_view::npos;
    left.remove_prefix(head + 4 + body.size());
    ++count;
  }
  EXPECT_EQ(last, expect_close);
  co_return count;
}

/// Runs `body(counted_requests&, socket_server&)` for each kind of handler.
template <class Body>
void run_on_sockets_for_all_kinds(Body body) {
  for (const kind each : all_kinds) {
    counted_requests app(each);
    SCOPED_TRACE(static_cast<int>(each));
    run_on_sockets(app.options(), [&](socket_server& here) -> gyre::task<> { co_await body(app, here); });
  }
}

}  // namespace

TEST(request_turns, other_tasks_run_after_32_pipelined_requests) {
  run_on_sockets_for_all_kinds([](counted_requests& app, socket_server& here) -> gyre::task<> {
    auto nothing = [](counted_requests&) {};
    auto beside = gyre::spawn(app.run_beside(nothing));
    auto client = co_await here.connect();
    co_await client.send(pipelined(all_requests));
    co_await expect_answers(client, 0, all_requests);
    EXPECT_EQ(app.handled, all_requests);
    EXPECT_LE(app.most, max_in_turn);
    beside.cancel();
    co_await beside.wait();
  });
}

TEST(request_turns, other_tasks_run_after_32_pipelined_requests_of_a_given_connection) {
  for (const kind each : all_kinds) {
    counted_requests app(each);
    run_virtual([&]() -> gyre::task<> {
      auto nothing = [](counted_requests&) {};
      auto beside = gyre::spawn(app.run_beside(nothing));
      memory_server here(app.options());
      auto client = here.connect();
      co_await client.send(pipelined(all_requests));
      co_await expect_answers(client, 0, all_requests);
      EXPECT_EQ(app.handled, all_requests);
      EXPECT_LE(app.most, max_in_turn);
      beside.cancel();
      co_await beside.wait();
    });
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
    auto read = [&](counted_requests& of) {
      char buffer[65'536];
      const auto size = ::recv(client.stream().native_descriptor(), buffer, sizeof(buffer), MSG_DONTWAIT);
      if (size > 0) seen.append(buffer, static_cast<std::size_t>(size));
      const int late = max_in_turn + 1;
      const std::string oldest = "\r\n\r\n" + std::to_string(of.handled - 1 - late) + "HTTP/1.1";
      if (of.handled > late && of.handled < all_requests) EXPECT_NE(seen.find(oldest), std::string::npos) << of.handled;
    };
    const std::string requests = pipelined(all_requests);
    EXPECT_EQ(::send(client.stream().native_descriptor(), requests.data(), requests.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(requests.size()));
    auto beside = gyre::spawn(app.run_beside(read));
    while (app.handled < all_requests) co_await gyre::yield();
    beside.cancel();
    co_await beside.wait();
    EXPECT_GE(app.turns, all_requests / max_in_turn);
  });
}

TEST(request_turns, many_clients_that_pipeline_all_get_their_answers_in_order) {
  for_each_seed(4, [](unsigned seed) {
    choices random(seed);
    counted_requests app(all_kinds[random.below(4)]);
    run_on_sockets(app.options(), [&](socket_server& here) -> gyre::task<> {
      auto beside = gyre::spawn(app.run_beside([](counted_requests&) {}));
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
      for (auto& each : clients) co_await each;
      EXPECT_EQ(app.handled, expected);
      beside.cancel();
      co_await beside.wait();
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
        auto cancel = [&](counted_requests& of) {
          if (of.turns == turn && of.handled < all_requests) here.serving.cancel();
        };
        auto beside = gyre::spawn(app.run_beside(cancel));
        co_await here.client.send(pipelined(all_requests));
        const int count = co_await answers_until_end(here.client, false);
        co_await here.serving.wait();
        EXPECT_LT(app.handled, all_requests);
        EXPECT_LE(count, app.handled);
        EXPECT_GE(count, app.handled - max_in_turn);  // those of the cancelled write
        EXPECT_EQ(here.server.connections(), 0U);
        beside.cancel();
        co_await beside.wait();
      });
    }
  }
}

TEST(request_turns, a_server_that_drains_between_two_turns_answers_every_request_that_it_has_begun) {
  run_on_sockets_for_all_kinds([](counted_requests& app, socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    auto stop = [&](counted_requests& of) {
      if (of.turns == 3) here.tell_to_stop();
    };
    auto beside = gyre::spawn(app.run_beside(stop));
    co_await client.send(pipelined(all_requests));
    const int count = co_await answers_until_end(client, true);
    EXPECT_EQ(count, app.handled);
    EXPECT_FALSE(client.was_reset());
    EXPECT_LT(count, all_requests);
    client.close();
    co_await here.stopped();
    beside.cancel();
    co_await beside.wait();
  });
}

TEST(request_turns, a_client_that_finishes_sending_between_two_turns_gets_all_answers) {
  run_on_sockets_for_all_kinds([](counted_requests& app, socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    auto half_close = [&](counted_requests& of) {
      if (of.turns == 3) ::shutdown(client.stream().native_descriptor(), SHUT_WR);
    };
    auto beside = gyre::spawn(app.run_beside(half_close));
    co_await client.send(pipelined(all_requests));
    const int count = co_await answers_until_end(client, false);
    EXPECT_EQ(count, all_requests);
    EXPECT_EQ(app.handled, all_requests);
    beside.cancel();
    co_await beside.wait();
  });
}

TEST(request_turns, a_client_that_resets_between_two_turns_ends_its_connection_alone) {
  run_on_sockets_for_all_kinds([](counted_requests& app, socket_server& here) -> gyre::task<> {
    auto other = co_await here.connect();
    auto client = co_await here.connect();
    auto leave = [&](counted_requests& of) {
      if (of.turns == 3 && client.stream().is_open()) reset(client);
    };
    auto beside = gyre::spawn(app.run_beside(leave));
    co_await client.send(pipelined(all_requests));
    while (here.server().connections() != 1) co_await gyre::sleep(1ms);
    EXPECT_LE(app.handled, all_requests);
    co_await other.send(pipelined(100));
    co_await expect_answers(other, 0, 100);
    beside.cancel();
    co_await beside.wait();
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
