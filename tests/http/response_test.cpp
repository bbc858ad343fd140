// tests/http/response_test.cpp: the parts of a response before it is sent.
#include <gyre/http/response.hpp>

#include "tests/http/http_client.hpp"

using namespace gyre_test;
using http::response;

namespace {

template <class F>
std::string refusal_of(F f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(response, says_what_it_is) {
  const response empty;
  EXPECT_EQ(empty.status(), 200);
  EXPECT_EQ(empty.length(), 0U);
  EXPECT_EQ(empty.body(), std::nullopt);
  EXPECT_EQ(empty.media_type(), "");
  const response text = response::text("abc");
  EXPECT_EQ(text.length(), 3U);
  EXPECT_EQ(text.body(), "abc");
  EXPECT_EQ(text.media_type(), "text/plain; charset=utf-8");
  EXPECT_EQ(response::html(std::string("<p>")).media_type(), "text/html; charset=utf-8");
  EXPECT_EQ(response::json("{}").media_type(), "application/json");
  EXPECT_EQ(response::bytes("x").media_type(), "application/octet-stream");
  EXPECT_EQ(response::borrowed("x", "image/png").media_type(), "image/png");
  EXPECT_EQ(response::no_content().status(), 204);
}

TEST(response, an_error_says_its_reason_or_a_message_and_nothing_where_a_body_is_forbidden) {
  EXPECT_EQ(response::error(404).body(), "Not Found\n");
  EXPECT_EQ(response::error(404, "no such user").body(), "no such user\n");
  EXPECT_EQ(response::error(404).status(), 404);
  EXPECT_EQ(response::error(304, "unwanted").body(), std::nullopt);
}

TEST(response, a_redirect_names_the_place_and_refuses_one_that_is_no_field_value) {
  EXPECT_EQ(response::redirect("/there").status(), 303);
  EXPECT_EQ(response::redirect("/there", 308).field("location"), "/there");
  EXPECT_NE(refusal_of([] { (void)response::redirect("/a\r\nSet-Cookie: b=c"); }), "");
}

// RFC 9110 §10.2.2, RFC 3986.
TEST(response, a_redirect_encodes_what_a_reference_does_not_hold) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"/a b\tc", "/a%20b%09c"},
      {"/\"<>\\^`{|}", "/%22%3C%3E%5C%5E%60%7B%7C%7D"},
      {"/\xc3\xa9?q=\xc3\xa9#\xc3\xa9", "/%C3%A9?q=%C3%A9#%C3%A9"},
      {"/a%20b%2F", "/a%20b%2F"},
      {"/100%", "/100%25"},
      {"/%zz%4", "/%25zz%254"},
      {"/a?x[]=1#b#c", "/a?x%5B%5D=1#b%23c"},
      {"http://[::1]:80/[a]", "http://[::1]:80/%5Ba%5D"},
      {"//[::1]/[a]", "//[::1]/%5Ba%5D"},
      {"//evil.example\\@good.example/", "//evil.example%5C@good.example/"},
      {"?a=http://[b]", "?a=http://%5Bb%5D"},
      {"a-._~:/?@!$&'()*+,;=z", "a-._~:/?@!$&'()*+,;=z"},
      {"", ""},
  };
  for (const auto& [given, sent] : cases) EXPECT_EQ(response::redirect(given).field("Location"), sent) << given;
  EXPECT_NE(refusal_of([] { (void)response::redirect("/a\x7f"); }), "");
}

TEST(response, fields_are_added_found_replaced_and_removed_whatever_their_case) {
  response r;
  r.add_field("X-A", "1").add_field("Y", "2").add_field("x-a", "3");
  EXPECT_EQ(r.field("X-a"), "1");
  r.set_field("x-A", "4");
  EXPECT_EQ(r.field("x-a"), "4");
  EXPECT_EQ(r.field("Y"), "2");
  r.remove_field("X-A");
  EXPECT_EQ(r.field("x-a"), std::nullopt) << "both are gone";
  r.remove_field("Z");
  EXPECT_EQ(r.field("Y"), "2");
  r.add_field("Empty", "");
  EXPECT_EQ(r.field("Empty"), "");
  EXPECT_EQ(r.field("Empt"), std::nullopt);
}

TEST(response, a_field_is_found_by_its_name_and_not_by_what_stands_in_a_value) {
  response r;
  r.add_field("A", "B: c").add_field("B", "d");
  EXPECT_EQ(r.field("B"), "d");
  r.remove_field("B");
  EXPECT_EQ(r.field("A"), "B: c");
}

TEST(response, content_type_is_the_media_type) {
  response r = response::text("a").add_field("content-type", "text/css");
  EXPECT_EQ(r.media_type(), "text/css");
  r.set_field("Content-Type", "text/xml");
  EXPECT_EQ(r.field("CONTENT-TYPE"), "text/xml");
  r.remove_field("Content-Type");
  EXPECT_EQ(r.field("Content-Type"), std::nullopt);
}

TEST(response, has_at_most_one_date) {
  response r;
  r.add_field("Date", "Sun, 29 Nov 2026 09:00:00 GMT").add_field("date", "Sun, 29 Nov 2026 09:00:01 GMT");
  EXPECT_EQ(r.field("Date"), "Sun, 29 Nov 2026 09:00:01 GMT");
  r.remove_field("Date");
  EXPECT_EQ(r.field("Date"), std::nullopt);
}

TEST(response, refuses_the_fields_of_the_server) {
  response r;
  for (const char* const own : {"CONNECTION", "content-length", "Transfer-Encoding"}) {
    EXPECT_EQ(refusal_of([&] { r.add_field(own, "0"); }),
              std::string("response: the field \"") + own + "\" is set by the server");
    EXPECT_NE(refusal_of([&] { r.set_field(own, "0"); }), "");
  }
}

TEST(response, refuses_names_and_values_that_would_be_read_as_something_else_and_stays_as_it_was) {
  response r;
  r.add_field("A", "1");
  for (const char* const name : {"", "A B", "A:", "A\r\nB", "\xc3\xa4"})
    EXPECT_NE(refusal_of([&] { r.add_field(name, "1"); }), "") << name;
  for (const char* const value : {"a\r\nB: c", "a\nb", "a\rb", "\x7f", "\x01"}) {
    EXPECT_NE(refusal_of([&] { r.add_field("B", value); }), "") << value;
    EXPECT_NE(refusal_of([&] { r.set_field("A", value); }), "") << value;
    EXPECT_NE(refusal_of([&] { r.set_media_type(value); }), "") << value;
  }
  EXPECT_NE(refusal_of([&] { r.add_field("B", std::string_view("a\0b", 3)); }), "");
  EXPECT_EQ(r.field("A"), "1");
  EXPECT_EQ(r.field("B"), std::nullopt);
}

TEST(response, refuses_a_status_that_is_none_of_a_final_answer) {
  for (const int status : {-1, 0, 99, 100, 101, 199, 1000}) {
    EXPECT_NE(refusal_of([&] { (void)response(status); }), "") << status;
    EXPECT_NE(refusal_of([&] { (void)response::error(status); }), "") << status;
    EXPECT_NE(refusal_of([&] { (void)response().set_status(status); }), "") << status;
  }
}

TEST(response, refuses_a_protocol_and_a_media_type_with_a_line_end) {
  auto protocol = [](gyre::any_stream) -> gyre::task<> { co_return; };
  EXPECT_NE(refusal_of([&] { (void)response::switch_protocols("a\r\nb", protocol); }), "");
  EXPECT_NE(refusal_of([&] { (void)response::bytes("", "a\nb"); }), "");
  auto producer = [](http::body_writer&) -> gyre::task<> { co_return; };
  EXPECT_NE(refusal_of([&] { (void)response::stream(producer, "a\nb"); }), "");
}

TEST(response, a_body_that_is_set_replaces_one_of_any_kind) {
  auto producer = [](http::body_writer&) -> gyre::task<> { co_return; };
  response r = response::stream(producer, "text/css");
  r.set_length(7);
  EXPECT_EQ(r.length(), 7U);
  r.set_body("abc");
  EXPECT_EQ(r.length(), 3U);
  EXPECT_EQ(r.body(), "abc");
  EXPECT_EQ(r.media_type(), "text/css");
}

TEST(response, a_producer_is_handed_to_another_one) {
  auto producer = [](http::body_writer&) -> gyre::task<> { co_return; };
  response r = response::stream(producer);
  r.set_length(7);
  http::body_producer* const taken = r.release_producer();
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(r.release_producer(), nullptr);
  r.set_producer(taken);
  EXPECT_EQ(r.length(), std::nullopt);
  EXPECT_EQ(response::text("a").release_producer(), nullptr);
}

TEST(response, nothing_of_one_is_left_in_the_next_that_uses_its_memory) {
  {
    response r = response::bytes("body", "text/css");
    r.add_field("A", "1").set_status(404);
    r.close_connection();
  }
  const response next;
  EXPECT_EQ(next.status(), 200);
  EXPECT_EQ(next.field("A"), std::nullopt);
  EXPECT_EQ(next.media_type(), "");
  EXPECT_EQ(next.length(), 0U);
}
