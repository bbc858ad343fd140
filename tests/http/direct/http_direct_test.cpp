// tests/http/direct/http_direct_test.cpp: applications that are called without any text of HTTP. This program contains
// none of the code for HTTP/1.1.
#include <gyre/gyre.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/request_id.hpp>
#include <gyre/http/response.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/server_sent_events.hpp>
#include <gyre/http/static_files.hpp>
#include <gyre/testing/http_direct.hpp>
#include <gyre/testing/http_test_client.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/support/virtual_run.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace http = gyre::http;
using namespace std::chrono_literals;
using gyre::task;
using gyre::testing::direct;
using gyre::testing::http_direct_application;
using gyre::testing::http_direct_exchange;
using gyre::testing::http_direct_part;
using gyre::testing::http_test_client;
using gyre_test::error_of;
using gyre_test::run_virtual;
using gyre_test::since;
using part = http_direct_part::part;

namespace {

const std::string large(200'000, 'l');

task<http::response> echo(http::request& r) {
  std::string body = co_await r.body().read_all();
  for (const http::field& each : r.body().trailers()) body.append("|").append(each.name).append("=").append(each.value);
  co_return http::response::text(std::move(body));
}

/// The kinds of the parts of an answer, and its bytes.
task<std::string> rest_of(http_direct_exchange& exchange) {
  std::string all;
  for (;;) {
    http_direct_part next = co_await exchange.receive();
    if (next.kind == part::interim) all += "interim " + std::to_string(next.status) + ' ';
    if (next.kind == part::head) all += "head " + std::to_string(next.status) + ' ';
    all += next.bytes;
    if (next.kind == part::end) co_return all;
  }
}

/// Runs until it is cancelled, which it notes.
struct waiter {
  gyre::event began;
  gyre::event cancelled;
  task<> wait() {
    const gyre::scope_exit at_end([this]() noexcept { cancelled.set(); });
    began.set();
    co_await gyre::sleep(100h);
  }
};

struct status_log : http::exchange_observer {
  void answered(const http::exchange& what) noexcept override {
    statuses.push_back(what.status);
    complete.push_back(what.complete);
  }
  std::vector<int> statuses;
  std::vector<bool> complete;
};

}  // namespace

TEST(http_direct, an_answer_has_the_fields_of_the_application_and_none_of_framing) {
  run_virtual([]() -> task<> {
    http::server_options options;
    options.routes = [](http::request& r) {
      return http::response::text(std::string(r.method()) + std::string(r.host())).add_field("X-A", "1");
    };
    options.name = "unit";
    http_test_client app{http_direct_application(std::move(options))};
    auto asking = app.get("/");
    const auto answer = co_await std::move(asking);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.reason, "OK");
    EXPECT_EQ(answer.body, "GETtest");
    std::vector<std::string> names;
    for (const auto& [name, value] : answer.fields) names.push_back(name);
    EXPECT_EQ(names, (std::vector<std::string>{"Date", "Server", "Content-Type", "X-A", "Content-Length"}));
  });
}

TEST(http_direct, every_kind_of_body_arrives) {
  http::router routes;
  routes.get("/large", [](http::request&) { return http::response::borrowed(large, "text/plain"); });
  routes.get("/none", [](http::request&) { return http::response::no_content(); });
  routes.get("/stream", [](http::request&) {
    const auto write = [](http::body_writer& out) -> task<> {
      co_await out.write("a");
      co_await out.write(large);
      out.append("z");
      out.add_trailer("X-Sum", "7");
    };
    return http::response::stream(write, "text/plain");
  });
  routes.get("/events", [](http::request&) {
    const auto send = [](http::event_writer& out) -> task<> { co_await out.send({.data = "x"}); };
    return http::event_stream(send);
  });
  run_virtual([&]() -> task<> {
    http_test_client app(direct, std::move(routes));
    EXPECT_EQ((co_await app.get("/large")).body, large);
    const auto none = co_await app.get("/none");
    EXPECT_EQ(none.status, 204);
    EXPECT_EQ(none.body, "");
    const auto stream = co_await app.get("/stream");
    EXPECT_EQ(stream.body, "a" + large + "z");
    EXPECT_EQ(stream.trailers, (std::vector<std::pair<std::string, std::string>>{{"X-Sum", "7"}}));
    EXPECT_EQ((co_await app.get("/events")).body, "data: x\n\n");
    const auto head = co_await app.request("HEAD", "/large");
    EXPECT_EQ(head.field("Content-Length"), "200000");
    EXPECT_EQ(head.body, "");
  });
}

TEST(http_direct, middleware_and_static_files_work) {
  const gyre_test::scratch folder;
  folder.put("a.txt", large);
  http::router routes;
  routes.use(http::request_id());
  routes.get("/{file...}", http::static_files(folder.root()));
  run_virtual([&]() -> task<> {
    http_test_client app(direct, std::move(routes));
    const auto whole = co_await app.get("/a.txt");
    EXPECT_EQ(whole.body, large);
    EXPECT_NE(whole.field("X-Request-ID"), "");
    auto asking = app.request("GET", "/a.txt", {{"Range", "bytes=1-3"}}, {});
    const auto some = co_await std::move(asking);
    EXPECT_EQ(some.status, 206);
    EXPECT_EQ(some.body, "lll");
  });
}

TEST(http_direct, a_body_arrives_whole_or_in_pieces_and_with_trailers) {
  run_virtual([]() -> task<> {
    http_test_client app(direct, echo);
    EXPECT_EQ((co_await app.post("/", "abc", "text/plain")).body, "abc");
    http_direct_application same(echo);
    auto exchange = same.begin({.method = "POST", .body = "1", .streams = true});
    co_await exchange.send("2");
    co_await gyre::sleep(1ms);
    co_await exchange.send("3");
    exchange.finish({{"X-A", "4"}});
    EXPECT_EQ(co_await rest_of(exchange), "head 200 123|X-A=4");
  });
}

TEST(http_direct, a_sender_waits_until_the_handler_reads) {
  gyre::event go_on;
  run_virtual([&]() -> task<> {
    const auto read_late = [&](http::request& r) -> task<http::response> {
      co_await go_on.wait();
      co_return co_await echo(r);
    };
    http_direct_application app(read_late);
    auto exchange = app.begin({.method = "POST", .streams = true});
    auto sending = gyre::spawn(exchange.send(large));
    co_await gyre::sleep(1s);
    EXPECT_FALSE(sending.done());
    go_on.set();
    co_await sending;
    exchange.finish();
    EXPECT_EQ(co_await rest_of(exchange), "head 200 " + large);
  });
}

TEST(http_direct, a_handler_waits_until_the_client_reads) {
  bool written = false;
  run_virtual([&]() -> task<> {
    const auto produce = [&](http::body_writer& out) -> task<> {
      co_await out.write(large);
      written = true;
    };
    http_direct_application app([&](http::request&) { return http::response::stream(produce, "text/plain"); });
    auto exchange = app.begin({});
    co_await gyre::sleep(1s);
    EXPECT_FALSE(written);
    EXPECT_EQ(co_await rest_of(exchange), "head 200 " + large);
    EXPECT_TRUE(written);
  });
}

TEST(http_direct, interim_answers_come_before_the_answer) {
  run_virtual([]() -> task<> {
    const auto hint = [](http::request& r) -> task<http::response> {
      const http::field link{.name = "Link", .value = "</a>"};
      EXPECT_TRUE(co_await r.send_interim(103, {&link, 1}));
      co_return co_await echo(r);
    };
    http_direct_application app(hint);
    auto exchange = app.begin({.method = "POST", .fields = {{"Expect", "100-continue"}}, .streams = true});
    EXPECT_EQ((co_await exchange.receive()).status, 103);
    EXPECT_EQ((co_await exchange.receive()).status, 100);
    co_await exchange.send("body");
    exchange.finish();
    EXPECT_EQ(co_await rest_of(exchange), "head 200 body");
  });
}

TEST(http_direct, an_adopted_task_reads_on_while_the_answer_is_sent_and_ends_with_it) {
  std::string read;
  gyre::event ended;
  const auto read_all = [&](http::request& r) -> task<> {
    const gyre::scope_exit at_end([&]() noexcept { ended.set(); });
    for (;;) {
      const std::string_view piece = co_await r.body().receive();
      if (piece.empty()) break;
      read += piece;
    }
  };
  run_virtual([&]() -> task<> {
    const auto both_ways = [&](http::request& r) {
      r.adopt(gyre::spawn(read_all(r)));
      const auto write = [&](http::body_writer& out) -> task<> {
        co_await out.write("first");
        co_await gyre::sleep(1s);
      };
      return http::response::stream(write, "text/plain");
    };
    http_direct_application app(both_ways);
    auto exchange = app.begin({.method = "POST", .streams = true});
    (void)co_await exchange.receive();
    EXPECT_EQ((co_await exchange.receive()).bytes, "first");
    co_await exchange.send("more");
    EXPECT_EQ(co_await rest_of(exchange), "");
    co_await ended.wait();
    EXPECT_EQ(read, "more");
  });
}

TEST(http_direct, a_client_that_resets_cancels_the_handler_at_once) {
  run_virtual([]() -> task<> {
    waiter who;
    status_log heard;
    http::server_options options;
    options.observer = &heard;
    options.routes = [&who](http::request&) -> task<http::response> {
      co_await who.wait();
      co_return http::response();
    };
    http_direct_application app(std::move(options));
    auto exchange = app.begin({});
    co_await who.began.wait();
    exchange.reset();
    co_await who.cancelled.wait();
    co_await gyre::yield();
    EXPECT_EQ(heard.statuses, std::vector<int>{499});
  });
}

TEST(http_direct, a_client_that_closes_its_sending_side_has_a_second_left) {
  run_virtual([]() -> task<> {
    waiter who;
    const auto wait = [&who](http::request&) -> task<http::response> {
      co_await who.wait();
      co_return http::response();
    };
    http_direct_application app(wait);
    auto exchange = app.begin({});
    co_await who.began.wait();
    const auto begin = gyre::now();
    exchange.close_sending();
    co_await who.cancelled.wait();
    EXPECT_EQ(since(begin), 1s);
    auto receiving = exchange.receive();
    EXPECT_TRUE((co_await error_of(std::move(receiving))).starts_with("receive the answer of the application: "));
  });
}

TEST(http_direct, a_client_that_leaves_in_the_middle_of_its_body_fails_the_reader) {
  std::string failure;
  run_virtual([&]() -> task<> {
    const auto read = [&](http::request& r) -> task<http::response> {
      auto reading = r.body().read_all();
      failure = co_await error_of(std::move(reading));
      co_return http::response();
    };
    http_direct_application app(read);
    auto exchange = app.begin({.method = "POST", .fields = {{"Content-Length", "9"}}, .body = "abc", .streams = true});
    co_await gyre::sleep(1ms);
    exchange.close_sending();
    co_await gyre::sleep(1ms);
    EXPECT_TRUE(failure.starts_with("receive the body: ")) << failure;
  });
}

TEST(http_direct, a_handler_whose_time_is_over_is_answered_with_503) {
  run_virtual([]() -> task<> {
    http::server_options options;
    options.timeouts.handler = 5s;
    options.routes = [](http::request&) -> task<http::response> {
      co_await gyre::sleep(100h);
      co_return http::response();
    };
    http_test_client app(direct, std::move(options));
    const auto begin = gyre::now();
    EXPECT_EQ((co_await app.get("/")).status, 503);
    EXPECT_EQ(since(begin), 5s);
  });
}

TEST(http_direct, a_body_that_fails_is_an_answer_before_its_first_byte_and_cut_off_after_it) {
  run_virtual([]() -> task<> {
    gyre::event_loop::current().set_exception_handler([](auto&, void*) noexcept {}, nullptr);
    const auto produce = [](std::string first) {
      return [first = std::move(first)](http::body_writer& out) -> task<> {
        co_await out.write(first);
        throw std::runtime_error("it fails");
      };
    };
    http::router routes;
    routes.get("/early", [&](http::request&) { return http::response::stream(produce(""), "text/plain"); });
    routes.get("/late", [&](http::request&) { return http::response::stream(produce("some"), "text/plain"); });
    http_test_client app(direct, std::move(routes));
    EXPECT_EQ((co_await app.get("/early")).status, 500);
    auto asking = app.get("/late");
    EXPECT_EQ(co_await error_of(std::move(asking)), "request the test: Connection reset by peer");
  });
}

TEST(http_direct, another_protocol_is_refused_with_a_sentence) {
  run_virtual([]() -> task<> {
    const auto tunnel = [](http::request&) {
      return http::response::switch_protocols("", [](gyre::any_stream) -> task<> { co_return; });
    };
    http_test_client app(direct, tunnel);
    auto asking = app.request("CONNECT", "a:1");
    EXPECT_EQ(co_await error_of(std::move(asking)),
              "the application switches to another protocol, for which a direct exchange has no connection");
    auto bytes = app.exchange_bytes("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(co_await error_of(std::move(bytes)),
              "exchange_bytes: a direct test client sends no bytes; make one with a connection");
  });
}

TEST(http_direct, a_request_that_no_protocol_carries_is_refused) {
  http_direct_application app(echo);
  const auto refusal = [&](gyre::testing::http_direct_request request) {
    return gyre_test::error_of_call([&] { (void)app.begin(std::move(request)); });
  };
  run_virtual([&]() -> task<> {
    EXPECT_EQ(refusal({.method = "a b"}), "http_direct_application: the method \"a b\" is not a token");
    EXPECT_EQ(refusal({.target = ""}), "http_direct_application: the target is empty");
    EXPECT_NE(refusal({.fields = {{"a", "b\n"}}}), "");
    EXPECT_NE(refusal({.fields = {{"Transfer-Encoding", "chunked"}}}), "");
    EXPECT_EQ(refusal({.target = "/a b"}), "http_direct_application: the target \"/a b\": malformed request target");
    EXPECT_EQ(refusal({.target = "a"}), "http_direct_application: the target \"a\": malformed request target");
    EXPECT_EQ(refusal({.fields = {{"Host", "a b/c"}}}),
              "http_direct_application: the target \"/\": malformed Host field");
    EXPECT_EQ(refusal({.fields = {{"Host", "a"}, {"host", "b"}}}),
              "http_direct_application: the request has several fields Host");
    EXPECT_EQ(refusal({.fields = {{"Content-Length", "x"}}}),
              "http_direct_application: the Content-Length \"x\" is not a number");
    EXPECT_EQ(refusal({.fields = {{"Content-Length", "9"}}, .body = "123456"}),
              "http_direct_application: the body has 6 bytes, and the Content-Length is 9");
    auto upload = app.begin({.method = "POST", .streams = true});
    EXPECT_NE(gyre_test::error_of_call([&] { upload.finish({{"a b", "1"}}); }), "");
    co_return;
  });
}

TEST(http_direct, an_upgrade_means_nothing) {
  run_virtual([]() -> task<> {
    http_test_client app(direct, [](http::request& r) { return http::response::text(std::string(r.upgrade())); });
    auto asking = app.request("GET", "/", {{"Connection", "Upgrade"}, {"Upgrade", "parrot"}}, "");
    const auto answer = co_await std::move(asking);
    EXPECT_EQ(answer.body, "");
  });
}
