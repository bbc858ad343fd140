// tests/http/head_writer_test.cpp: heads are refused, or read back as they were meant.
#include <gyre/http/head_writer.hpp>

#include <gyre/http/status.hpp>

#include "tests/http/feed.hpp"

#include <stdexcept>

using namespace gyre_test;

namespace {

template <class Write>
std::string write_refusal(Write write) {
  std::string out;
  http::head_writer writer(out);
  try {
    write(writer);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(head_writer, a_response_is_read_back) {
  std::string out;
  http::head_writer writer(out);
  writer.status_line(404);
  writer.field("Content-Type", "text/plain");
  writer.field("Content-Length", 18446744073709551615U);
  writer.end();
  EXPECT_EQ(out, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 18446744073709551615\r\n\r\n");
  EXPECT_EQ(parse_head(out, http::head_parser::kind::response).state, http::parse_state::complete);
}

TEST(head_writer, a_request_is_read_back) {
  std::string out;
  http::head_writer writer(out);
  writer.request_line("GET", "/a?b");
  writer.field("Host", "a");
  writer.end();
  const auto head = parse_head(out);
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.target, "/a?b");
  EXPECT_EQ(head.fields, lines{"Host: a"});
}

TEST(head_writer, chunks_are_read_back) {
  std::string out;
  http::head_writer writer(out);
  const std::string data(300, 'x');
  writer.chunk_begin(data.size());
  out += data;
  writer.chunk_end();
  const std::vector<http::field> trailers{{"Sum", "7"}};
  writer.last_chunk(trailers);
  EXPECT_TRUE(out.starts_with("12c\r\n"));
  const decoded_body body = decode_body(out);
  EXPECT_EQ(body.state, http::chunked_decoder::state::complete);
  EXPECT_EQ(body.data, data);
  EXPECT_EQ(body.trailers, lines{"Sum: 7"});
}

TEST(head_writer, a_value_that_would_split_a_message_is_refused) {
  using writer = http::head_writer;
  EXPECT_EQ(write_refusal([](writer& w) { w.field("A b", "c"); }), "field \"A b\": the name is not a token");
  EXPECT_EQ(write_refusal([](writer& w) { w.field("", "c"); }), "field \"\": the name is not a token");
  for (const char* bad : {"a\r\nB: c", "a\nb", "a\rb", " a", "a ", "a\x7f"})
    EXPECT_NE(write_refusal([bad](writer& w) { w.field("A", bad); }), "") << bad;
  EXPECT_NE(write_refusal([](writer& w) { w.field("A", std::string_view("a\0b", 3)); }), "");
  EXPECT_NE(write_refusal([](writer& w) { w.request_line("GE T", "/"); }), "");
  for (const char* bad : {"", "/a b", "/\r\n", "/\x80", "/#a"})
    EXPECT_NE(write_refusal([bad](writer& w) { w.request_line("GET", bad); }), "") << bad;
  EXPECT_NE(write_refusal([](writer& w) { w.status_line(99); }), "");
  EXPECT_NE(write_refusal([](writer& w) { w.status_line(1000); }), "");
  EXPECT_NE(write_refusal([](writer& w) { w.chunk_begin(0); }), "");
}

TEST(reason_phrase, unregistered_codes_have_that_of_their_class) {
  EXPECT_EQ(http::reason_phrase(200), "OK");
  EXPECT_EQ(http::reason_phrase(413), "Content Too Large");
  EXPECT_EQ(http::reason_phrase(299), "Success");
  EXPECT_EQ(http::reason_phrase(599), "Server Error");
  EXPECT_EQ(http::reason_phrase(999), "Unknown");
}
