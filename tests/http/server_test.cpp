// tests/http/server_test.cpp: how long connections last, and the order of the responses.
#include <gyre/http/server.hpp>

#include "tests/http/socket_server.hpp"

#include <unistd.h>

#include <algorithm>

using namespace gyre_test;
using http::response;

namespace {

response show_target(http::request& r) { return response::text(r.target()); }

}  // namespace

TEST(server, keeps_a_connection_for_many_requests) {
  run_in_memory(options_for(show_target), [](memory_server& here) -> gyre::task<> {
    auto client = here.connect();
    for (int i = 0; i < 100; ++i) {
      const auto answer = co_await client.ask(get_request("/" + std::to_string(i)));
      EXPECT_EQ(answer.body, "/" + std::to_string(i));
      EXPECT_EQ(answer.field("Connection"), "keep-alive");
    }
    EXPECT_EQ(here.server().connections(), 1U);
  });
}

TEST(server, closes_when_the_client_asks_for_it) {
  run_client(options_for(show_target), [](memory_client& client) -> gyre::task<> {
    const auto answer = co_await client.ask(get_request("/a", "Connection: close\r\n"));
    EXPECT_EQ(answer.field("Connection"), "close");
    co_await client.expect_end();
    EXPECT_FALSE(client.was_reset());
  });
}

TEST(server, closes_behind_an_answer_to_http_1_0_unless_asked_to_stay) {
  run_client(options_for(show_target), [](memory_client& client) -> gyre::task<> {
    const auto kept = co_await client.ask("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(kept.field("Connection"), "keep-alive");
    const auto last = co_await client.ask("GET /b HTTP/1.0\r\n\r\n");
    EXPECT_EQ(last.body, "/b");
    EXPECT_EQ(last.field("Connection"), "close");
    co_await client.expect_end();
  });
}

TEST(server, answers_pipelined_requests_in_their_order) {
  auto uneven = [](http::request& r) -> gyre::task<response> {
    if (r.path() == "/slow") co_await gyre::sleep(1s);
    co_return show_target(r);
  };
  run_client(options_for(uneven), [](memory_client& client) -> gyre::task<> {
    co_await client.send(get_request("/slow") + get_request("/2") + get_request("/slow") + get_request("/4"));
    for (const char* const each : {"/slow", "/2", "/slow", "/4"}) {
      const auto answer = co_await client.answer();
      EXPECT_EQ(answer.body, each);
    }
  });
}

TEST(server, answers_to_pipelined_requests_go_out_together) {
  run_on_sockets(options_for(show_target), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    std::string all;
    for (int i = 0; i < 16; ++i) all += get_request("/" + std::to_string(i));
    co_await client.send(all);
    const bool more = co_await client.receive();
    EXPECT_TRUE(more);
    EXPECT_NE(client.received().find("/15"), std::string::npos) << "in the first piece";
  });
}

TEST(server, an_answer_does_not_wait_for_a_slow_one_behind_it) {
  gyre::event go_on;
  auto second_waits = [&](http::request& r) -> gyre::task<response> {
    if (r.path() == "/2") co_await go_on.wait();
    co_return show_target(r);
  };
  for (const bool in_memory : connections_in_memory())
    run_with_client(in_memory, options_for(second_waits), [&](auto&, auto& client) -> gyre::task<> {
      go_on.clear();
      const auto first = co_await client.ask(get_request("/1") + get_request("/2"));
      EXPECT_EQ(first.body, "/1");
      go_on.set();
      const auto second = co_await client.answer();
      EXPECT_EQ(second.body, "/2");
    });
}

TEST(server, a_piece_of_a_stream_is_sent_when_it_is_made) {
  gyre::event go_on;
  auto events = [&](http::request&) {
    auto produce = [&](http::body_writer& out) -> gyre::task<> {
      co_await out.write("first;");
      co_await go_on.wait();
      co_await out.write("second;");
    };
    return response::stream(produce, "text/event-stream");
  };
  for (const bool in_memory : connections_in_memory())
    run_with_client(in_memory, options_for(events), [&](auto&, auto& client) -> gyre::task<> {
      go_on.clear();
      co_await client.send(hello_request);
      bool more = true;
      while (more && client.received().find("first;") == std::string::npos) more = co_await client.receive();
      EXPECT_TRUE(more);
      go_on.set();
      const auto answer = co_await client.answer();
      EXPECT_EQ(answer.body, "first;second;");
    });
}

TEST(server, tells_handlers_what_the_request_is_and_whose) {
  auto look = [](http::request& r) {
    EXPECT_EQ(r.method(), "PUT");
    EXPECT_EQ(r.target(), "http://b:81/p%20q/?x=1");
    EXPECT_EQ(r.path(), "/p%20q/");
    EXPECT_EQ(r.query(), "x=1");
    EXPECT_EQ(r.host(), "b:81") << "that of the target goes before the field";
    EXPECT_EQ(r.version(), http::version::http_1_1);
    EXPECT_EQ(r.fields().size(), 3U);
    EXPECT_EQ(r.field("x-b"), "2");
    EXPECT_EQ(r.field("X-C"), "");
    return response::text(r.peer().string());
  };
  run_on_sockets(options_for(look), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    const auto answer =
        co_await client.ask("PUT http://b:81/p%20q/?x=1 HTTP/1.1\r\nHost: a\r\nX-B: 2\r\nx-b: 3\r\n\r\n");
    EXPECT_EQ(answer.body, client.stream().local_address().string());
  });
}

TEST(server, tells_its_name_and_the_date_when_it_has_one) {
  http::server_options options = options_for(says(""));
  options.name = "gyre/1";
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    const auto answer = co_await here.get("/");
    EXPECT_EQ(answer.field("Server"), "gyre/1");
    EXPECT_EQ(answer.field("Date").size(), 29U);
  });
}

TEST(server, sends_the_date_of_a_response_that_has_one_in_place_of_its_own) {
  const auto old = [](http::request& r) {
    auto made = http::response::text("").add_field("Date", "Tue, 15 Nov 1994 08:12:31 GMT");
    if (r.path() == "/removed") made.remove_field("Date");
    return made;
  };
  http::server_options options = options_for(old);
  options.name = "gyre/1";
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    const auto answer = co_await here.get("/");
    EXPECT_EQ(answer.field("Date"), "Tue, 15 Nov 1994 08:12:31 GMT");
    EXPECT_EQ(std::ranges::count_if(answer.fields, [](const auto& each) { return each.first == "Date"; }), 1);
    EXPECT_EQ(answer.field("Server"), "gyre/1");
    EXPECT_NE((co_await here.get("/removed")).field("Date"), "Tue, 15 Nov 1994 08:12:31 GMT");
    EXPECT_EQ((co_await here.get("/removed")).field("Date").size(), 29U);
  });
}

TEST(server, sends_the_server_field_of_a_response_that_has_one_in_place_of_its_own) {
  const auto origin = [](http::request&) {
    return http::response::text("").add_field("server", "first/1").add_field("Server", "origin/1");
  };
  http::server_options options = options_for(origin);
  options.name = "gyre/1";
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    const auto answer = co_await here.get("/");
    EXPECT_EQ(answer.field("Server"), "origin/1");
    EXPECT_EQ(std::ranges::count_if(answer.fields, [](const auto& each) { return each.first == "Server"; }), 1);
    EXPECT_EQ(answer.field("Date").size(), 29U);
  });
}

TEST(server, announces_how_long_it_keeps_an_idle_connection) {
  struct one {
    std::chrono::nanoseconds idle;
    const char* announced;
  };
  for (const one& each : {one{75s, "timeout=75"}, one{5999ms, "timeout=5"}, one{500ms, "timeout=0"},
                          one{std::chrono::nanoseconds::max(), ""}}) {
    http::server_options options = options_for(show_target);
    options.timeouts.idle = each.idle;
    run_in_memory(std::move(options), [&](memory_server& here) -> gyre::task<> {
      const auto answer = co_await here.get("/");
      EXPECT_EQ(answer.field("Keep-Alive"), each.announced);
      EXPECT_EQ(answer.field("Connection"), *each.announced == 0 ? "" : "keep-alive");
      auto last = here.connect();
      const auto last_answer = co_await last.ask(get_request("/", "Connection: close\r\n"));
      EXPECT_EQ(last_answer.field("Keep-Alive"), "") << "nothing is kept";
      EXPECT_EQ(last_answer.field("Connection"), "close");
    });
  }
}

TEST(server, keeps_the_keep_alive_field_of_a_response) {
  const auto own = [](http::request&) { return http::response::text("").add_field("Keep-Alive", "timeout=3, max=9"); };
  run_in_memory(options_for(own), [](memory_server& here) -> gyre::task<> {
    const auto answer = co_await here.get("/");
    EXPECT_EQ(answer.field("Keep-Alive"), "timeout=3, max=9");
    EXPECT_EQ(std::ranges::count_if(answer.fields, [](const auto& each) { return each.first == "Keep-Alive"; }), 1);
  });
}

TEST(server, needs_routes_and_says_where_it_cannot_listen) {
  run_real([]() -> gyre::task<> {
    EXPECT_THROW(http::server{http::server_options{}}, std::invalid_argument);
    http::server first(options_for(says("")));
    http::server_options same = options_for(says(""));
    same.listen = first.where();
    std::string error;
    try {
      const http::server second(std::move(same));
    } catch (const gyre::io_error& e) {
      error = e.what();
    }
    EXPECT_EQ(error, "listen " + first.where() + ": Address already in use");
    http::server_options none = options_for(says(""));
    none.listen.clear();
    http::server nowhere(std::move(none));
    EXPECT_THROW((void)nowhere.run(), std::logic_error);
    co_return;
  });
}

TEST(server, listens_at_a_path_and_removes_it) {
  const std::string path = "/tmp/gyre_http_" + std::to_string(::getpid());
  http::server_options options = options_for(show_target);
  options.listen = "unix:" + path;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    EXPECT_EQ(here.server().where(), "unix:" + path);
    auto stream = co_await gyre::unix_stream::connect(gyre::unix_address(path));
    http_client<gyre::unix_stream> client(std::move(stream));
    const auto first = co_await client.ask(get_request("/a") + get_request("/b"));
    EXPECT_EQ(first.body, "/a");
    const auto second = co_await client.answer();
    EXPECT_EQ(second.body, "/b");
  });
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(server, sends_files_and_large_values_to_sockets_whole) {
  const std::string large(3'000'000, 'l');
  auto send = [&](http::request& r) -> gyre::task<response> {
    if (r.path() == "/value") co_return response::borrowed(large, "a/b");
    auto file = co_await gyre::fs::file::open("/proc/self/exe");
    co_return response::file(std::move(file), 4096, 500'000, "a/b");
  };
  run_on_sockets(options_for(send), [&](socket_server& here) -> gyre::task<> {
    const auto value = co_await here.get("/value");
    EXPECT_EQ(value.body, large);
    const auto file = co_await here.get("/file");
    EXPECT_EQ(file.body.size(), 500'000U);
  });
}

TEST(server, a_connection_that_has_ended_is_closed_though_somebody_holds_its_task) {
  run_virtual([]() -> gyre::task<> {
    http::server_options options = options_for(says("bye"));
    options.listen.clear();
    http::server server(std::move(options));
    gyre::memory_pair pair;
    auto serving = gyre::spawn(serve_given(server, gyre::any_stream(std::move(pair.second))));
    memory_client client(std::move(pair.first));
    (void)co_await client.ask(get_request("/", "Connection: close\r\n"));
    co_await client.expect_end();
    co_await serving;
  });
}
