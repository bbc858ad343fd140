// tests/http/handler_test.cpp: which function of a handler's type answers.
#include "tests/http/router_answers.hpp"

namespace {

using namespace gyre_test;
using http::response;

// A type that happens to have a function with the name and the parameter of the one that servers call.
struct stopwatch {
  gyre::task<response> operator()(http::request&) { co_return response::text("the answer"); }
  http::started_response start(http::request&) { return response::text("started by surprise"); }
};

// A type that asks to be started.
struct prompt : http::prompt_handler<prompt> {
  http::started_response start(http::request& r) {
    if (r.path() == "/later") return later();
    return response::text("now");
  }
  static gyre::task<response> later() { co_return response::text("later"); }
};

struct derived : prompt {
  gyre::task<response> operator()(http::request&) { co_return response::text("called"); }
};

gyre::task<response> in_brackets(http::request& r, http::next_handler next) {
  response made = co_await next(r);
  made.set_body("[" + std::string(made.body().value()) + "]");
  co_return made;
}

TEST(handler, does_not_call_a_member_that_happens_to_be_named_start) {
  http::router routes;
  routes.get("/", stopwatch());
  EXPECT_EQ(answers(std::move(routes), {"GET /"}), lines{"200 the answer"});
}

TEST(handler, starts_a_prompt_handler_and_waits_for_its_response) {
  http::router routes;
  routes.any("/{path...}", prompt());
  EXPECT_EQ(answers(std::move(routes), {"GET /now", "GET /later"}), (lines{"200 now", "200 later"}));
}

TEST(handler, starts_what_derives_from_a_prompt_handler) {
  http::router routes;
  routes.get("/", derived());
  EXPECT_EQ(answers(std::move(routes), {"GET /"}), lines{"200 now"});
}

TEST(handler, gives_middleware_the_response_of_a_prompt_handler) {
  http::router routes;
  routes.use(in_brackets).any("/{path...}", prompt());
  EXPECT_EQ(answers(std::move(routes), {"GET /now", "GET /later"}), (lines{"200 [now]", "200 [later]"}));
}

TEST(handler, awaits_a_prompt_handler_that_is_called) {
  http::router routes;
  routes.any("/{path...}",
             [inner = prompt()](http::request& r) mutable -> gyre::task<response> { co_return co_await inner(r); });
  EXPECT_EQ(answers(std::move(routes), {"GET /now", "GET /later"}), (lines{"200 now", "200 later"}));
}

}  // namespace
