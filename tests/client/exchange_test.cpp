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

void expect_body(std::string answer, std::string body) { expect_fetched(answers_once(std::move(answer)), body); }

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
  with_client(echo_request, [](http::client& client, scripted_server& server) -> gyre::task<> {
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

TEST(client_exchange, user_and_password_of_the_url_become_a_field) {
  with_client(echo_request, [](http::client& client, scripted_server& server) -> gyre::task<> {
    std::string url = server.url();
    url.insert(url.find("//") + 2, "Aladdin:open%20sesame@");
    auto response = co_await client.get(url);
    const std::string text = co_await response.read_all();
    EXPECT_NE(text.find("Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("Aladdin"), std::string::npos);
  });
}

TEST(client_exchange, fields_of_the_client_and_text_that_is_no_part_of_a_request_are_refused_with_a_sentence) {
  run_real([]() -> gyre::task<> {
    http::client client;
    auto request = client.request("GET", "http://a/");
    EXPECT_EQ(error_of_call([&] { request.header("content-length", "3"); }),
              "field \"Content-Length\": the client sets it itself; see body(), expect_continue(), upgrade() and "
              "client_options");
    EXPECT_EQ(error_of_call([&] { request.header("Connection", "upgrade"); }),
              "field \"Connection\": only \"close\" can be asked for");
    EXPECT_EQ(error_of_call([&] { request.basic_auth("a:b", "c"); }), "basic_auth: a user name cannot contain a colon");
    EXPECT_EQ(error_of_call([&] { (void)client.request("G T", "http://a/"); }),
              "method \"G T\": it is not a token of at most 32 characters");
    EXPECT_EQ(error_of_call([&] { (void)client.request("CONNECT", "http://a/"); }),
              "method CONNECT: the client itself opens tunnels through proxies");
    EXPECT_EQ(error_of_call([&] { (void)client.get("http://a/\r\n"); }),
              "url \"http://a/\\x0d\\x0a\": it contains a control character; percent-encode it");
    EXPECT_EQ(error_of_call([&] { (void)client.get("socks5://a/"); }),
              "url \"socks5://a/\": the scheme is not http or https");
    co_return;
  });
}

TEST(client_exchange, the_framing_of_a_response_decides_where_its_body_ends) {
  expect_body("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello");
  expect_body("HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end");
  expect_body("HTTP/1.0 200 OK\r\n\r\nuntil the end", "until the end");
  expect_body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", "abcde");
  expect_body("HTTP/1.1 204 No Content\r\n\r\n", "");
  expect_body("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", "");
  expect_body("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "");
}

TEST(client_exchange, the_part_of_a_body_that_came_with_the_head_can_be_checked_before_it_and_its_trailers_are_read) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const auto& [body, error] :
       std::vector<std::pair<std::string, http::parse_error>>{{"zz\r\n", http::parse_error::bad_chunk_size},
                                                              {"1\r\na\r\nzz\r\n", http::parse_error::bad_chunk_size},
                                                              {"1\r\nabc\r\n", http::parse_error::bad_chunk_end}})
    with_client(answers_once(head + body), [&](http::client& client, scripted_server& server) -> gyre::task<> {
      auto response = co_await client.get(server.url());
      try {
        response.body().check_arrived();
        ADD_FAILURE() << body;
      } catch (const http::client_error& wrong) {
        EXPECT_EQ(wrong.code(), http::client_errc::bad_response);
        EXPECT_NE(std::string(wrong.what()).find(describe(error)), std::string::npos) << wrong.what();
      }
    });
  with_client(answers_once(head + "1\r\na\r\n2\r\nbc\r\n0\r\nA: 1\r\n\r\n"),
              [](http::client& client, scripted_server& server) -> gyre::task<> {
                auto response = co_await client.get(server.url());
                response.body().check_arrived();
                response.body().check_arrived();
                EXPECT_EQ(co_await response.read_all(), "abc");
                response.body().check_arrived();
                const auto trailers = response.body().trailers();
                CO_ASSERT_EQ(trailers.size(), 1U);
                EXPECT_EQ(trailers[0].name, "A");
                EXPECT_EQ(trailers[0].value, "1");
              });
}

TEST(client_exchange, a_body_can_be_read_in_pieces_of_any_size) {
  with_client(answers_once("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"),
              [](http::client& client, scripted_server& server) -> gyre::task<> {
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
    expect_fetched(answers_once(answer), sentence, {.limits = {.body = 4}});
}

TEST(client_exchange, interim_responses_are_shown_to_an_observer_that_may_wait_and_skipped) {
  with_client(answers_once("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                           "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
              [](http::client& client, scripted_server& server) -> gyre::task<> {
                std::string seen;
                const auto note = [&seen](int status, std::span<const http::field> fields) {
                  seen += std::to_string(status) + ":";
                  for (const http::field& each : fields) seen += std::string(each.value);
                };
                auto request = client.request("GET", server.url());
                auto response = co_await request.on_interim(note).send();
                EXPECT_EQ(seen, "103:</a>100:");
                EXPECT_EQ(co_await response.read_all(), "ok");
                seen.clear();
                const auto note_late = [&](int status, std::span<const http::field> fields) -> gyre::task<> {
                  co_await gyre::yield();
                  note(status, fields);
                };
                auto again = client.request("GET", server.url());
                auto later = co_await again.on_interim(note_late).send();
                EXPECT_EQ(seen, "103:</a>100:");
              });
}

TEST(client_exchange, a_server_that_sends_interim_responses_for_ever_is_left) {
  std::string interim;
  for (int i = 0; i < 200; ++i) interim += "HTTP/1.1 102 Processing\r\n\r\n";
  expect_fetched(answers_and_waits(interim), "GET URL: the server sends too many interim responses");
}

TEST(client_exchange, malformed_responses_that_mean_one_thing_are_understood) {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  expect_body("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", "hello");
  expect_body("HTTP/1.1 200 OK\r\nX: y\nContent-Length: 5\n\r\nhello", "hello");
  expect_body("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\r\nhello\r\n0\r\n\r\n", "hello");
  expect_body(head + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "hello");
  expect_body(head + "Content-Length: 5, 5\r\n\r\nhello", "hello");
  expect_body(head + "Content-Length:\r\n 5\r\n\r\nhello", "hello");
  expect_body(head + "Transfer-Encoding: chunked\r\n\r\n5   \r\nhello\r\n0 \t\r\n\r\n", "hello");
  expect_body(head + "Transfer-Encoding:\r\n\tchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "hello");
}

TEST(client_exchange, folded_values_become_one_line) {
  with_client(answers_once("HTTP/1.1 200 OK\r\nX-A: one\r\n two\r\n\tthree  \r\nX-B:\n  b\nX-C: c\r\n \r\n"
                           "Content-Length: 0\r\n\r\n"),
              [](http::client& client, scripted_server& server) -> gyre::task<> {
                auto response = co_await client.get(server.url());
                EXPECT_EQ(response.field("X-A"), "one   two  \tthree");
                EXPECT_EQ(response.field("X-B"), "b");
                EXPECT_EQ(response.field("X-C"), "c");
              });
}

// Lengths have tests of their own: see client_response_length.
TEST(client_exchange, responses_that_two_clients_could_understand_differently_are_refused) {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  for (const auto& [answer, error] : std::vector<std::pair<std::string, http::parse_error>>{
           {head + " Content-Length: 5\r\n\r\nhello", http::parse_error::folded_line},
           {head + "X: a\rb\r\n\r\n", http::parse_error::bad_field_value},
           {head + "X: a\r\n b\x01\r\n\r\n", http::parse_error::bad_field_value},
           {"SSH-2.0-OpenSSH\r\n\r\n", http::parse_error::bad_version},
           {head + "X: " + std::string(40'000, 'a') + "\r\n\r\n", http::parse_error::head_too_large}})
    expect_body(answer, "GET URL: the response is malformed: " + std::string(describe(error)));
}

TEST(client_exchange, a_body_is_saved_to_a_file_with_progress) {
  with_client(answers_once("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
              [](http::client& client, scripted_server& server) -> gyre::task<> {
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
