// tests/http/moved_object_test.cpp: moved-from routers, servers and responses, and empty handlers.
#include <gyre/http/static_files.hpp>

#include "tests/http/router_answers.hpp"

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace gyre_test;
using http::response;

namespace {

constexpr const char* moved_router = "an http::router was used that was moved from: add all routes before";
constexpr const char* moved_server =
    "an http::server was used that was moved from: use the server that it was moved to";
constexpr const char* moved_response = "an http::response was used that was moved from";

response say_hello(http::request&) { return response::text("hello"); }

// NOLINTBEGIN(bugprone-use-after-move): that is what is tested
response moved_from_response(http::request&) {
  response made = response::text("hello");
  const response taken = std::move(made);
  return made;
}
gyre::task<response> moved_from_response_later(http::request& r) { co_return moved_from_response(r); }

gyre::task<response> adds_a_field(http::request& r, http::next_handler next) {
  response made = co_await next(r);
  made.add_field("X-A", "b");
  co_return made;
}

template <class Use>
void use_moved_router(Use use) {
  http::router routes;
  const http::router other = std::move(routes);
  use(routes);
}

template <class Use>
void use_moved_server(Use use) {
  run_virtual([&]() -> gyre::task<> {
    http::server_options options;
    options.listen = "";
    options.routes = say_hello;
    http::server made(std::move(options));
    const http::server other = std::move(made);
    use(made);
    co_return;
  });
}

template <class Use>
void use_moved_response(Use use) {
  response made;
  const response other = std::move(made);
  use(made);
}
// NOLINTEND(bugprone-use-after-move)

}  // namespace

TEST(moved_object, using_static_files_that_were_moved_from_stops_the_program) {
  const auto use = [] {
    http::static_files files("/");
    http::router other;
    other.get("/{path...}", std::move(files));
    http::router routes;
    routes.get("/{path...}", std::move(files));
    (void)answers(std::move(routes), {"GET /x"});
  };
  EXPECT_DEATH(use(), "http::static_files was used that was moved from");
}

TEST(moved_object, using_a_router_that_was_moved_from_stops_the_program) {
  EXPECT_DEATH(use_moved_router([](http::router& r) { r.get("/", say_hello); }), moved_router);
  EXPECT_DEATH(use_moved_router([](http::router& r) { r.use(adds_a_field); }), moved_router);
  EXPECT_DEATH(use_moved_router([](http::router& r) { (void)r.at("/a"); }), moved_router);
  EXPECT_DEATH(use_moved_router([](http::router& r) { r.not_found(say_hello); }), moved_router);
  EXPECT_DEATH(use_moved_router([](http::router& r) { r.mount("/a", http::router()); }), moved_router);
  EXPECT_DEATH(use_moved_router([](http::router& r) { http::router().mount("/a", std::move(r)); }), moved_router);
  EXPECT_DEATH(use_moved_router([](http::router& r) { (void)answers(std::move(r), {"GET /"}); }), moved_router);
}

TEST(moved_object, using_a_server_that_was_moved_from_stops_the_program) {
  EXPECT_DEATH(use_moved_server([](http::server& s) { (void)s.where(); }), moved_server);
  EXPECT_DEATH(use_moved_server([](http::server& s) { (void)s.run(); }), moved_server);
  EXPECT_DEATH(use_moved_server([](http::server& s) { (void)s.connections(); }), moved_server);
  EXPECT_DEATH(use_moved_server([](http::server& s) { (void)s.draining(); }), moved_server);
}

TEST(moved_object, destroying_a_server_that_runs_stops_the_program) {
  const auto destroy = [](const char* listen) {
    gyre::run([listen]() -> gyre::task<> {
      http::server_options options;
      options.listen = listen;
      options.routes = say_hello;
      auto server = std::make_optional<http::server>(std::move(options));
      gyre::memory_pair pair;
      auto running = *listen == 0 ? gyre::spawn(server->serve_connection(gyre::any_stream(std::move(pair.first))))
                                  : gyre::spawn(server->run());
      co_await gyre::sleep(std::chrono::milliseconds(1));
      server.reset();
      co_await running;
    });
  };
  const char* const sentence = "an http::server was destroyed while it runs: cancel and await the tasks of run.. and";
  EXPECT_DEATH(destroy("127.0.0.1:0"), sentence);
  EXPECT_DEATH(destroy(""), sentence);
}

TEST(moved_object, using_a_response_that_was_moved_from_stops_the_program) {
  EXPECT_DEATH(use_moved_response([](response& r) { r.add_field("A", "b"); }), moved_response);
  EXPECT_DEATH(use_moved_response([](response& r) { (void)r.status(); }), moved_response);
  EXPECT_DEATH(use_moved_response([](response& r) { r.set_body("x"); }), moved_response);
}

TEST(moved_object, a_handler_that_returns_a_moved_response_is_answered_with_500_and_reported) {
  for (const bool waits : {false, true}) {
    for (const bool in_middleware : {false, true}) {
      run_virtual([&]() -> gyre::task<> {
        reports heard;
        http::router routes;
        if (in_middleware) routes.use(adds_a_field);
        if (waits)
          routes.get("/", moved_from_response_later);
        else
          routes.get("/", moved_from_response);
        routes.get("/hello", say_hello);
        http_test_client app(std::move(routes));
        const http_answer answer = co_await app.get("/");
        EXPECT_EQ(answer.status, 500);
        const http_answer next = co_await app.get("/hello");
        EXPECT_EQ(next.body, "hello");
        EXPECT_EQ(heard.texts, std::vector<std::string>{"the handler returned a response that was moved from"});
      });
    }
  }
}

TEST(moved_object, a_handler_that_calls_nothing_is_refused_with_its_route) {
  response (*const no_function)(http::request&) = nullptr;
  const std::function<response(http::request&)> empty;
  const auto refusal_of = [](http::handler h) {
    return message_of<std::invalid_argument>([&] { http::router().get("/users/{id}", std::move(h)); });
  };
  EXPECT_EQ(refusal_of(no_function), "route \"/users/{id}\": it has no handler");
  EXPECT_EQ(refusal_of(empty), "route \"/users/{id}\": it has no handler");
}

TEST(moved_object, calling_an_empty_handler_stops_the_program) {
  const auto call = [] {
    run_virtual([]() -> gyre::task<> {
      std::optional<http::request> none;
      http::handler empty;
      (void)empty(*none);
      co_return;
    });
  };
  EXPECT_DEATH(call(), "an http::handler was called that is empty or was moved from");
}

TEST(moved_object, negative_time_outs_and_a_name_with_a_line_end_are_refused) {
  const auto refusal_of = [](auto change) {
    return message_of<std::invalid_argument>([&] {
      http::server_options options;
      options.listen = "";
      options.routes = say_hello;
      change(options);
      const http::server made(std::move(options));
    });
  };
  EXPECT_EQ(refusal_of([](http::server_options& o) { o.timeouts.write = -1s; }),
            "http::server: timeouts.write is negative; nanoseconds::max() means no limit");
  EXPECT_EQ(refusal_of([](http::server_options& o) { o.name = "a\r\nX: y"; }),
            "http::server: the name holds a control character, or white space around it");
}

TEST(moved_object, limits_that_let_nobody_in_are_refused) {
  const auto refusal_of = [](auto change) {
    return message_of<std::invalid_argument>([&] {
      http::server_options options;
      options.listen = "";
      options.routes = say_hello;
      change(options.limits);
      const http::server made(std::move(options));
    });
  };
  EXPECT_EQ(refusal_of([](http::server_limits& l) { l.connections = 0; }),
            "http::server: limits.connections is 0: every connection would be refused");
  EXPECT_EQ(refusal_of([](http::server_limits& l) { l.connections_per_address = 0; }),
            "http::server: limits.connections_per_address is 0: every client would be refused; give limits.connections "
            "for no limit");
  EXPECT_EQ(refusal_of([](http::server_limits& l) { l.head.size = 0; }),
            "http::server: limits.head.size is 0: every request would be refused");
  EXPECT_EQ(refusal_of([](http::server_limits& l) { l.head.target = 0; }),
            "http::server: limits.head.target is 0: every request would be refused");
}
