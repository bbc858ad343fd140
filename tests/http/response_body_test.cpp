// tests/http/response_body_test.cpp: bodies of every kind arrive at the client.
#include <gyre/http/body_writer.hpp>
#include <gyre/http/response.hpp>

#include "tests/http/http_client.hpp"
#include "tests/http/memory_file.hpp"

using namespace gyre_test;
using http::response;

namespace {

gyre::async_generator<std::string> three_pieces() {
  co_yield "one ";
  co_yield "";
  co_yield "two ";
  co_await gyre::sleep(1s);
  co_yield "three";
}

gyre::task<> write_three(http::body_writer& out) {
  co_await out.write("one ");
  co_await out.write("");
  co_await out.write("two ");
  co_await gyre::sleep(1s);
  co_await out.write("three");
}

/// Writes `text` but announces `length`.
http::handler announces(std::uint64_t length, std::string text) {
  return [length, text = std::move(text)](http::request&) {
    auto producer = [&text](http::body_writer& out) -> gyre::task<> { co_await out.write(text); };
    response made = response::stream(producer);
    made.set_length(length);
    return made;
  };
}

http_answer root_answer(std::string method, http::handler routes) {
  http_answer result;
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(routes));
    result = co_await app.request(method, "/");
  });
  return result;
}

/// Returns the bytes of the response, and the failures that the loop's exception handler gets.
std::string bytes_and_failures_from(http::handler routes, std::vector<std::string>& failures, std::string request) {
  std::string result;
  run_virtual([&]() -> gyre::task<> {
    reports here;
    http_test_client app(std::move(routes));
    result = co_await app.exchange_bytes(request, false);
    failures = here.texts;
  });
  return result;
}

std::string body_of(const std::string& bytes) {
  const std::size_t head = bytes.find("\r\n\r\n");
  return head == std::string::npos ? "" : bytes.substr(head + 4);
}

}  // namespace

TEST(response_body, a_value_arrives_with_its_length_and_the_fields) {
  const auto answer = root_answer("GET", [](http::request&) {
    return response::text("hello").set_status(201).add_field("A", "1").add_field("A", "2");
  });
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.reason, "Created");
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(answer.field("Content-Length"), "5");
  EXPECT_EQ(answer.field("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(std::count(answer.fields.begin(), answer.fields.end(), std::pair<std::string, std::string>("A", "2")), 1);
  EXPECT_EQ(answer.field("Date").size(), 29U);
  EXPECT_EQ(answer.field("Connection"), "keep-alive");
  EXPECT_EQ(answer.field("Server"), "");
}

TEST(response_body, large_values_arrive_whole) {
  for (const std::size_t size : {16'383U, 16'384U, 16'385U, 65'536U, 1'000'000U}) {
    const std::string body(size, 'x');
    const auto answer = root_answer("GET", [&](http::request&) { return response::bytes(std::string(body)); });
    EXPECT_EQ(answer.body.size(), size);
    const auto borrowed = root_answer("GET", [&](http::request&) { return response::borrowed(body, "a/b"); });
    EXPECT_EQ(borrowed.body, body);
    EXPECT_EQ(borrowed.field("Content-Type"), "a/b");
  }
}

TEST(response_body, a_part_of_a_file_arrives_with_its_length) {
  const auto answer =
      root_answer("GET", [](http::request&) { return response::file(file_of("0123456789"), 2, 5, "text/plain"); });
  EXPECT_EQ(answer.body, "23456");
  EXPECT_EQ(answer.field("Content-Length"), "5");
}

TEST(response_body, a_file_that_is_shorter_than_was_said_ends_the_connection_early) {
  std::vector<std::string> failures;
  const auto bytes =
      bytes_and_failures_from([](http::request&) { return response::file(file_of("0123"), 2, 5, "a/b"); }, failures,
                              hello_request + hello_request);
  EXPECT_EQ(body_of(bytes), "23");
}

TEST(response_body, a_stream_arrives_in_chunks) {
  std::vector<std::string> failures;
  const auto bytes = bytes_and_failures_from([](http::request&) { return response::stream(write_three, "text/plain"); },
                                             failures, hello_request);
  EXPECT_NE(bytes.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(bytes.find("Content-Length"), std::string::npos);
  EXPECT_EQ(body_of(bytes), "4\r\none \r\n4\r\ntwo \r\n5\r\nthree\r\n0\r\n\r\n");
}

TEST(response_body, the_pieces_of_a_generator_arrive_in_chunks) {
  const auto answer = root_answer("GET", [](http::request&) { return response::stream(three_pieces()); });
  EXPECT_EQ(answer.body, "one two three");
  EXPECT_EQ(answer.field("Content-Type"), "application/octet-stream");
}

TEST(response_body, a_stream_without_a_piece_is_an_empty_body) {
  auto nothing = [](http::body_writer&) -> gyre::task<> { co_return; };
  EXPECT_EQ(root_answer("GET", [&](http::request&) { return response::stream(nothing); }).body, "");
}

TEST(response_body, a_stream_may_send_files_and_large_pieces_between_others) {
  const std::string large(100'000, 'l');
  auto produce = [&](http::body_writer& out) -> gyre::task<> {
    const auto file = file_of("0123456789");
    co_await out.write("a");
    co_await out.send_file(file, 3, 4);
    co_await out.write(large);
    co_await out.send_file(file, 0, 0);
    co_await out.flush();
    co_await out.write("z");
    EXPECT_EQ(out.written(), 100'006U);
  };
  const auto answer = root_answer("GET", [&](http::request&) { return response::stream(produce); });
  EXPECT_EQ(answer.body, "a3456" + large + "z");
}

TEST(response_body, an_http_1_0_client_gets_a_stream_that_ends_with_the_connection) {
  std::vector<std::string> failures;
  const auto bytes = bytes_and_failures_from([](http::request&) { return response::stream(write_three); }, failures,
                                             "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(bytes.find("Transfer-Encoding"), std::string::npos);
  EXPECT_NE(bytes.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(body_of(bytes), "one two three");
}

TEST(response_body, head_is_answered_with_the_head_of_get_and_no_body_of_any_kind) {
  auto never = [](http::body_writer&) -> gyre::task<> {
    ADD_FAILURE() << "a body that nobody gets was made";
    co_return;
  };
  const auto value = root_answer("HEAD", [](http::request&) { return response::text("hello"); });
  EXPECT_EQ(value.field("Content-Length"), "5");
  EXPECT_EQ(value.body, "");
  EXPECT_EQ(root_answer("HEAD", [](http::request&) { return response::borrowed("ab", "a/b"); }).field("Content-Length"),
            "2");
  EXPECT_EQ(root_answer("HEAD", [](http::request&) { return response::file(file_of("0123"), 0, 4, "a/b"); })
                .field("Content-Length"),
            "4");
  EXPECT_EQ(root_answer("HEAD", [&](http::request&) { return response::stream(never); }).field("Transfer-Encoding"),
            "chunked");
  EXPECT_EQ(root_answer("HEAD", [&](http::request&) { return response::stream(three_pieces()); }).status, 200);
}

TEST(response_body, nothing_is_behind_a_head_that_answers_head) {
  std::vector<std::string> failures;
  const auto bytes = bytes_and_failures_from([](http::request&) { return response::text("hello"); }, failures,
                                             "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(body_of(bytes), "");
}

TEST(response_body, answers_204_and_304_have_neither_a_body_nor_a_length) {
  for (const int status : {204, 304}) {
    std::vector<std::string> failures;
    const auto bytes =
        bytes_and_failures_from([&](http::request&) { return response::text("hello").set_status(status); }, failures,
                                hello_request + hello_request);
    EXPECT_EQ(bytes.find("Content-Length"), std::string::npos);
    EXPECT_EQ(bytes.find("hello"), std::string::npos);
    EXPECT_EQ(bytes.find("Transfer-Encoding"), std::string::npos);
    EXPECT_NE(body_of(bytes), "") << "the second answer";
  }
}

TEST(response_body, an_answer_205_has_no_body_and_says_so) {
  auto never = [](http::body_writer&) -> gyre::task<> {
    ADD_FAILURE() << "a body that nobody gets was made";
    co_return;
  };
  const auto value = root_answer("GET", [](http::request&) { return response::text("hello").set_status(205); });
  EXPECT_EQ(value.field("Content-Length"), "0");
  EXPECT_EQ(value.body, "");
  const auto file =
      root_answer("GET", [](http::request&) { return response::file(file_of("0123"), 0, 4, "a/b").set_status(205); });
  EXPECT_EQ(file.field("Content-Length"), "0");
  const auto stream = root_answer("GET", [&](http::request&) { return response::stream(never).set_status(205); });
  EXPECT_EQ(stream.field("Content-Length"), "0");
  EXPECT_EQ(stream.field("Transfer-Encoding"), "");
}

TEST(response_body, a_stream_of_the_announced_length_is_not_in_chunks) {
  const auto answer = root_answer("GET", announces(5, "12345"));
  EXPECT_EQ(answer.field("Content-Length"), "5");
  EXPECT_EQ(answer.field("Transfer-Encoding"), "");
  EXPECT_EQ(answer.body, "12345");
}

TEST(response_body, more_than_the_announced_length_is_not_sent_and_the_programs_error) {
  std::vector<std::string> failures;
  const auto bytes = bytes_and_failures_from(announces(5, "123456"), failures, hello_request);
  EXPECT_EQ(status_of(bytes), 500);
  EXPECT_EQ(body_of(bytes), "Internal Server Error\n");
  EXPECT_EQ(failures, (std::vector<std::string>{"the body of the response is longer than was announced"}));
}

TEST(response_body, less_than_the_announced_length_ends_the_connection_and_is_the_programs_error) {
  std::vector<std::string> failures;
  const auto bytes = bytes_and_failures_from(announces(5, "123"), failures, hello_request + hello_request);
  EXPECT_EQ(bytes.find("HTTP/1.1", 1), std::string::npos) << "no second answer may be read as the rest of the first";
  EXPECT_EQ(failures, (std::vector<std::string>{"the body of the response is shorter than was announced"}));
}

TEST(response_body, one_that_fails_in_the_middle_is_cut_off_and_reported) {
  auto fail = [](http::body_writer& out) -> gyre::task<> {
    co_await out.write("first");
    throw std::runtime_error("the disk is gone");
  };
  std::vector<std::string> failures;
  const auto bytes = bytes_and_failures_from([&](http::request&) { return response::stream(fail); }, failures,
                                             hello_request + hello_request);
  EXPECT_EQ(bytes.find("0\r\n\r\n"), std::string::npos) << "it must not look complete";
  EXPECT_EQ(bytes.find("HTTP/1.1", 1), std::string::npos);
  EXPECT_EQ(failures, (std::vector<std::string>{"the disk is gone"}));
}

TEST(response_body, a_write_that_was_cut_off_ends_the_response_also_when_the_producer_goes_on) {
  auto produce = [](http::body_writer& out) -> gyre::task<> {
    const std::string large(100'000, 'l');
    auto writing = [&]() -> gyre::task<> { co_await out.write(large); };
    for (int i = 0; i < 3; ++i) {
      try {
        co_await gyre::timeout(1s, writing);
      } catch (const std::exception&) {
      }
    }
    co_await out.write("the rest");
  };
  run_virtual([&]() -> gyre::task<> {
    reports here;
    memory_server server(options_for([&](http::request&) { return response::stream(produce); }));
    auto client = server.connect(1000);
    co_await client.send(hello_request);
    co_await gyre::sleep(10s);
    const auto bytes = co_await client.rest();
    EXPECT_EQ(bytes.find("the rest"), std::string::npos);
    EXPECT_EQ(bytes.find("0\r\n\r\n"), std::string::npos);
    EXPECT_EQ(bytes.find("186A0", bytes.find("186A0") + 1), std::string::npos);
    EXPECT_EQ(bytes.find("186a0", bytes.find("186a0") + 1), std::string::npos) << "a second chunk inside of the first";
  });
}

TEST(response_body, a_response_that_wants_the_connection_closed_says_so) {
  std::vector<std::string> failures;
  const auto bytes = bytes_and_failures_from(
      [](http::request&) {
        response made = response::text("bye");
        made.close_connection();
        return made;
      },
      failures, hello_request + hello_request);
  EXPECT_NE(bytes.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(bytes.find("HTTP/1.1", 1), std::string::npos);
}
