// tests/client/exchange_test.cpp: one request and its response.
#include "tests/client/scripted_server.hpp"
#include "tests/fs/scratch.hpp"

#include <vector>

using namespace gyre_test;

namespace {

gyre::task<> echo_request(peer& client) {
  for (;;) {
    const std::string request = co_await client.request();
    if (request.empty()) co_return;
    co_await client.answer(request);
  }
}

void expect_fetched(std::string answer, std::string body) {
  with_server(answers_once(std::move(answer)), [&](scripted_server& server) -> gyre::task<> {
    http::client client;
    EXPECT_EQ(co_await fetched(client, server.url()), body);
  });
}

}  // namespace

TEST(client_exchange, a_get_request_says_what_a_server_needs) {
  with_server(echo_request, [](scripted_server& server) -> gyre::task<> {
    http::client client({.decompress = false});
    auto response = co_await client.get(server.url("/a?b=c#d"));
    EXPECT_EQ(response.status(), 200);
    EXPECT_EQ(response.reason(), "OK");
    EXPECT_TRUE(response.ok());
    EXPECT_EQ(response.url().string(), server.url("/a?b=c#d"));
    const std::string host(response.url().authority());
    EXPECT_EQ(co_await response.read_all(),
              "GET /a?b=c HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: gyre\r\nAccept: */*\r\n\r\n");
  });
}

TEST(client_exchange, fields_of_the_program_are_sent_and_replace_the_clients_own) {
  with_server(echo_request, [](scripted_server& server) -> gyre::task<> {
    http::client client({.decompress = false});
    auto request = client.request("DELETE", server.url());
    request.header("Accept", "text/plain").header("User-Agent", "me").header("Host", "x.test").header("X-A", "1");
    request.query("q", "a b").header("X-A", "2");
    auto response = co_await request.send();
    EXPECT_EQ(co_await response.read_all(),
              "DELETE /?q=a%20b HTTP/1.1\r\nAccept: text/plain\r\nUser-Agent: me\r\nHost: x.test\r\nX-A: 1\r\nX-A: "
              "2\r\n\r\n");
  });
}

TEST(client_exchange, a_body_is_sent_with_its_length_and_type) {
  with_server(echo_request, [](scripted_server& server) -> gyre::task<> {
    http::client client;
    auto response = co_await client.post(server.url(), "some text", "text/plain");
    const std::string text = co_await response.read_all();
    EXPECT_NE(text.find("Content-Type: text/plain\r\nContent-Length: 9\r\n\r\nsome text"), std::string::npos) << text;
    auto form = client.request("POST", server.url());
    form.form({{"a", "1&2"}, {"b c", "ü"}});
    auto posted = co_await form.send();
    const std::string sent = co_await posted.read_all();
    EXPECT_NE(sent.find("application/x-www-form-urlencoded\r\nContent-Length: 20\r\n\r\na=1%262&b%20c=%C3%BC"),
              std::string::npos)
        << sent;
    auto empty = client.request("POST", server.url());
    auto answered = co_await empty.send();
    EXPECT_NE((co_await answered.read_all()).find("Content-Length: 0\r\n"), std::string::npos);
  });
}

TEST(client_exchange, a_form_with_files_is_one_for_the_server_of_gyre) {
  run_real([]() -> gyre::task<> {
    http::router routes;
    routes.post("/", [](http::request& request) -> gyre::task<http::response> {
      const auto boundary = http::multipart_boundary(request.field("Content-Type"));
      http::multipart_decoder parts(boundary.value_or(""));
      const std::string text = co_await request.body().read_all();
      std::string seen;
      std::string_view rest = text;
      for (;;) {
        const auto step = parts.next(rest, true);
        rest.remove_prefix(step.consumed);
        if (step.what == http::multipart_decoder::state::part_begin)
          seen += parts.part().name + "|" + parts.part().file_name.value_or("") + "|" + parts.part().content_type + "|";
        if (step.what == http::multipart_decoder::state::data) seen += step.data;
        if (step.what == http::multipart_decoder::state::part_end) seen += ";";
        if (step.what == http::multipart_decoder::state::complete) break;
        if (step.what == http::multipart_decoder::state::failed) co_return http::response::error(400);
      }
      co_return http::response::text(seen);
    });
    http::server_options options;
    options.routes = std::move(routes);
    options.listen = "127.0.0.1:0";
    http::server server(std::move(options));
    auto serving = gyre::spawn(server.run());
    http::client client;
    auto request = client.request("POST", "http://" + server.where() + "/");
    request.multipart({{.name = "a\"b", .content = "1"}, {.name = "f", .content = "{}", .file_name = "x.json"}});
    auto response = co_await request.send();
    EXPECT_EQ(co_await response.read_all(), "a\"b|||1;f|x.json|application/json|{};");
    serving.cancel();
    co_await serving.wait();
  });
}

TEST(client_exchange, user_and_password_of_the_url_become_a_field) {
  with_server(echo_request, [](scripted_server& server) -> gyre::task<> {
    http::client client;
    std::string url = server.url();
    url.insert(url.find("//") + 2, "Aladdin:open%20sesame@");
    auto response = co_await client.get(url);
    const std::string text = co_await response.read_all();
    EXPECT_NE(text.find("Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("Aladdin"), std::string::npos);
  });
}

TEST(client_exchange, line_ends_and_own_fields_are_refused_with_a_sentence) {
  run_real([]() -> gyre::task<> {
    http::client client;
    const auto refusal = [&](auto set) {
      try {
        set();
      } catch (const std::invalid_argument& error) {
        return std::string(error.what());
      }
      return std::string("accepted");
    };
    auto request = client.request("GET", "http://a/");
    EXPECT_NE(refusal([&] { request.header("X", "a\r\nY: b"); }), "accepted");
    EXPECT_NE(refusal([&] { request.header("X\r\nY", "b"); }), "accepted");
    EXPECT_NE(refusal([&] { request.header("X", std::string_view("a\0b", 3)); }), "accepted");
    EXPECT_NE(refusal([&] { request.bearer_token("a\nb"); }), "accepted");
    EXPECT_EQ(refusal([&] { request.header("content-length", "3"); }),
              "field \"Content-Length\": the client sets it itself; see body(), expect_continue(), upgrade() and "
              "client_options");
    EXPECT_EQ(refusal([&] { request.header("Connection", "upgrade"); }),
              "field \"Connection\": only \"close\" can be asked for");
    EXPECT_EQ(refusal([&] { request.basic_auth("a:b", "c"); }), "basic_auth: a user name cannot contain a colon");
    EXPECT_EQ(refusal([&] { (void)client.request("G T", "http://a/"); }),
              "method \"G T\": it is not a token of at most 32 characters");
    EXPECT_EQ(refusal([&] { (void)client.request("CONNECT", "http://a/"); }),
              "method CONNECT: the client itself opens tunnels through proxies");
    EXPECT_EQ(refusal([&] { (void)client.get("http://a/\r\n"); }),
              "url \"http://a/\\x0d\\x0a\": it contains a control character; percent-encode it");
    EXPECT_EQ(refusal([&] { (void)client.get("socks5://a/"); }),
              "url \"socks5://a/\": the scheme is not http or https");
    co_return;
  });
}

TEST(client_exchange, the_framing_of_a_response_decides_where_its_body_ends) {
  expect_fetched("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello");
  expect_fetched("HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end");
  expect_fetched("HTTP/1.0 200 OK\r\n\r\nuntil the end", "until the end");
  expect_fetched("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", "abcde");
  expect_fetched("HTTP/1.1 204 No Content\r\n\r\n", "");
  expect_fetched("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", "");
  expect_fetched("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "");
}

TEST(client_exchange, a_head_request_has_no_body) {
  with_server(answers_once("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
              [](scripted_server& server) -> gyre::task<> {
                http::client client;
                auto response = co_await client.head(server.url());
                EXPECT_EQ(response.field("Content-Length"), "1000");
                EXPECT_TRUE(response.body().at_end());
                EXPECT_EQ(co_await response.read_all(), "");
              });
}

TEST(client_exchange, trailers_can_be_read_after_the_body) {
  with_server(answers_once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nDigest: x\r\n\r\n"),
              [](scripted_server& server) -> gyre::task<> {
                http::client client;
                auto response = co_await client.get(server.url());
                EXPECT_EQ(co_await response.read_all(), "a");
                const auto trailers = response.body().trailers();
                CO_ASSERT_EQ(trailers.size(), 1U);
                EXPECT_EQ(trailers[0].name, "Digest");
                EXPECT_EQ(trailers[0].value, "x");
              });
}

TEST(client_exchange, the_part_of_a_body_that_came_with_the_head_can_be_checked) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const auto& [body, error] :
       std::vector<std::pair<std::string, http::parse_error>>{{"zz\r\n", http::parse_error::bad_chunk_size},
                                                              {"1\r\na\r\nzz\r\n", http::parse_error::bad_chunk_size},
                                                              {"1\r\nabc\r\n", http::parse_error::bad_chunk_end}})
    with_server(answers_once(head + body), [&](scripted_server& server) -> gyre::task<> {
      http::client client;
      auto response = co_await client.get(server.url());
      try {
        response.body().check_arrived();
        ADD_FAILURE() << body;
      } catch (const http::client_error& wrong) {
        EXPECT_EQ(wrong.code(), http::client_errc::bad_response);
        EXPECT_NE(std::string(wrong.what()).find(describe(error)), std::string::npos) << wrong.what();
      }
    });
  with_server(answers_once(head + "1\r\na\r\n2\r\nbc\r\n0\r\nA: 1\r\n\r\n"),
              [](scripted_server& server) -> gyre::task<> {
                http::client client;
                auto response = co_await client.get(server.url());
                response.body().check_arrived();
                response.body().check_arrived();
                EXPECT_EQ(co_await response.read_all(), "abc");
                response.body().check_arrived();
                EXPECT_EQ(response.body().trailers().size(), 1U);
              });
}

TEST(client_exchange, a_body_can_be_read_in_pieces_of_any_size) {
  with_server(answers_once("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"),
              [](scripted_server& server) -> gyre::task<> {
                http::client client;
                auto response = co_await client.get(server.url());
                EXPECT_EQ(response.body().length(), 10U);
                std::string all;
                std::array<std::byte, 3> buffer;
                while (const std::size_t n = co_await response.body().read_some(buffer))
                  all.append(reinterpret_cast<const char*>(buffer.data()), n);
                EXPECT_EQ(all, "0123456789");
                EXPECT_EQ(response.body().received(), 10U);
              });
}

TEST(client_exchange, a_body_beyond_the_limit_is_refused) {
  const std::string sentence =
      "GET URL: the body of the response is larger than the limit: 4 bytes; read it in pieces, or pass a larger limit "
      "to read_all";
  for (const std::string answer : {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 200 OK\r\n\r\nhello"})
    with_server(answers_once(answer), [&](scripted_server& server) -> gyre::task<> {
      http::client client({.limits = {.body = 4}});
      EXPECT_EQ(co_await fetched(client, server.url()), sentence);
    });
}

TEST(client_exchange, interim_responses_are_shown_and_skipped) {
  with_server(answers_once("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                           "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
              [](scripted_server& server) -> gyre::task<> {
                http::client client;
                std::string seen;
                auto request = client.request("GET", server.url());
                request.on_interim([&seen](int status, std::span<const http::field> fields) {
                  seen += std::to_string(status) + ":";
                  for (const http::field& each : fields) seen += std::string(each.value);
                });
                auto response = co_await request.send();
                EXPECT_EQ(seen, "103:</a>100:");
                EXPECT_EQ(co_await response.read_all(), "ok");
              });
}

TEST(client_exchange, an_observer_of_interim_responses_may_wait) {
  with_server(
      answers_once("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
      [](scripted_server& server) -> gyre::task<> {
        http::client client;
        std::string seen;
        auto request = client.request("GET", server.url());
        request.on_interim([&seen](int, std::span<const http::field> fields) -> gyre::task<> {
          co_await gyre::yield();
          seen = fields.front().value;
        });
        auto response = co_await request.send();
        EXPECT_EQ(seen, "</a>");
        EXPECT_EQ(co_await response.read_all(), "ok");
      });
}

TEST(client_exchange, a_server_that_sends_interim_responses_for_ever_is_left) {
  with_server(
      [](peer& client) -> gyre::task<> {
        (void)co_await client.request();
        for (int i = 0; i < 200; ++i) co_await client.send("HTTP/1.1 102 Processing\r\n\r\n");
        (void)co_await client.rest();
      },
      [](scripted_server& server) -> gyre::task<> {
        http::client client;
        EXPECT_EQ(co_await fetched(client, server.url()), "GET URL: the server sends too many interim responses");
      });
}

TEST(client_exchange, malformed_responses_that_mean_one_thing_are_understood) {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  expect_fetched("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", "hello");
  expect_fetched("HTTP/1.1 200 OK\r\nX: y\nContent-Length: 5\n\r\nhello", "hello");
  expect_fetched("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\r\nhello\r\n0\r\n\r\n", "hello");
  expect_fetched(head + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "hello");
  expect_fetched(head + "Content-Length: 5, 5\r\n\r\nhello", "hello");
  expect_fetched(head + "Content-Length:\r\n 5\r\n\r\nhello", "hello");
  expect_fetched(head + "Transfer-Encoding: chunked\r\n\r\n5   \r\nhello\r\n0 \t\r\n\r\n", "hello");
  expect_fetched(head + "Transfer-Encoding:\r\n\tchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "hello");
}

TEST(client_exchange, folded_values_become_one_line) {
  with_server(answers_once("HTTP/1.1 200 OK\r\nX-A: one\r\n two\r\n\tthree  \r\nX-B:\n  b\nX-C: c\r\n \r\n"
                           "Content-Length: 0\r\n\r\n"),
              [](scripted_server& server) -> gyre::task<> {
                http::client client;
                auto response = co_await client.get(server.url());
                EXPECT_EQ(response.field("X-A"), "one   two  \tthree");
                EXPECT_EQ(response.field("X-B"), "b");
                EXPECT_EQ(response.field("X-C"), "c");
              });
}

TEST(client_exchange, responses_that_two_clients_could_understand_differently_are_refused) {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  expect_fetched(
      head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "GET URL: the response is malformed: " + std::string(describe(http::parse_error::length_and_encoding)));
  expect_fetched(head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
                 "GET URL: the response is malformed: " + std::string(describe(http::parse_error::bad_content_length)));
  expect_fetched(head + "Content-Length: 5, 6\r\n\r\nhello!",
                 "GET URL: the response is malformed: " + std::string(describe(http::parse_error::bad_content_length)));
  expect_fetched(head + "Content-Length: 5\r\n 6\r\n\r\nhello!",
                 "GET URL: the response is malformed: " + std::string(describe(http::parse_error::bad_content_length)));
  expect_fetched(head + " Content-Length: 5\r\n\r\nhello",
                 "GET URL: the response is malformed: " + std::string(describe(http::parse_error::folded_line)));
  expect_fetched(head + "X: a\rb\r\n\r\n",
                 "GET URL: the response is malformed: " + std::string(describe(http::parse_error::bad_field_value)));
  expect_fetched(head + "X: a\r\n b\x01\r\n\r\n",
                 "GET URL: the response is malformed: " + std::string(describe(http::parse_error::bad_field_value)));
  expect_fetched("SSH-2.0-OpenSSH\r\n\r\n",
                 "GET URL: the response is malformed: " + std::string(describe(http::parse_error::bad_version)));
  expect_fetched(head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
                 "GET URL: the response is malformed: " + std::string(describe(http::parse_error::bad_chunk_size)));
  expect_fetched("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
                 "GET URL: the server switches to a protocol that was not asked for: x");
  expect_fetched(head + "X: " + std::string(40'000, 'a') + "\r\n\r\n",
                 "GET URL: the response is malformed: " + std::string(describe(http::parse_error::head_too_large)));
}

TEST(client_exchange, a_response_split_at_any_byte_is_the_same) {
  const std::string answer =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n"
      "4\r\nabcd\r\n3\r\nefg\r\n0\r\nT: u\r\n\r\n";
  for (std::size_t at = 1; at < answer.size(); ++at)
    with_server(
        [&](peer& client) -> gyre::task<> {
          (void)co_await client.request();
          co_await client.send(answer.substr(0, at));
          for (int i = 0; i < 3; ++i) co_await gyre::yield_turn();
          co_await client.send(answer.substr(at));
          (void)co_await client.rest();
        },
        [&](scripted_server& server) -> gyre::task<> {
          http::client client;
          EXPECT_EQ(co_await fetched(client, server.url()), "abcdefg") << at;
          EXPECT_EQ(client.counts().idle, 1U) << at;
        });
}

TEST(client_exchange, a_response_cut_at_any_byte_is_an_error) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n";
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nabcdefg\r\n0\r\n\r\n";
  for (const std::string& answer : {head + "abcdefg", chunked})
    for (std::size_t at = 0; at < answer.size(); ++at)
      with_server(answers_once(answer.substr(0, at)), [&](scripted_server& server) -> gyre::task<> {
        http::client client;
        EXPECT_EQ(co_await fetched(client, server.url()),
                  at == 0 ? "GET URL: the server closed the connection before it answered"
                          : "GET URL: the connection ended within the response")
            << at;
        EXPECT_EQ(client.counts().idle, 0U);
        EXPECT_EQ(client.counts().in_use, 0U);
      });
}

TEST(client_exchange, a_failed_body_stays_failed) {
  with_server(answers_once("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nabc"),
              [](scripted_server& server) -> gyre::task<> {
                http::client client;
                auto response = co_await client.get(server.url());
                EXPECT_NE(co_await error_of(response.read_all()), "");
                EXPECT_NE((co_await error_of(response.read_all())).find("the connection ended within the response"),
                          std::string::npos);
              });
}

TEST(client_exchange, nobody_listening_is_an_error_with_the_address) {
  run_real([]() -> gyre::task<> {
    std::string where;
    {
      auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
      where = listener.local_address().string();
    }
    http::client client;
    EXPECT_EQ(co_await fetched(client, "http://" + where + "/"), "connect " + where + ": Connection refused");
    EXPECT_EQ(client.counts().in_use, 0U);
  });
}

TEST(client_exchange, a_body_is_saved_to_a_file_with_progress) {
  with_server(answers_once("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
              [](scripted_server& server) -> gyre::task<> {
                http::client client;
                auto response = co_await client.get(server.url());
                const gyre_test::scratch folder;
                const std::string path = folder.path("saved");
                std::uint64_t last = 0;
                auto progress = [&last](std::uint64_t bytes) { last = bytes; };
                EXPECT_EQ(co_await response.save_to(path, progress), 5U);
                EXPECT_EQ(last, 5U);
                EXPECT_EQ(folder.get("saved"), "hello");
              });
}

TEST(client_exchange, a_response_outlives_its_client) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    http::client_response kept;
    {
      http::client client;
      kept = co_await client.get(server.url());
    }
    EXPECT_EQ(co_await kept.read_all(), "hello");
  });
}

TEST(client_exchange, the_client_of_the_loop_is_made_when_it_is_used) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    auto response = co_await http::get(server.url());
    EXPECT_EQ(co_await response.read_all(), "hello");
    auto again = co_await http::post(server.url(), "x", "text/plain");
    EXPECT_TRUE(again.reused_connection());
    EXPECT_EQ(co_await again.read_all(), "hello");
  });
}
