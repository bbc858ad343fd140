// tests/http/request_body_test.cpp: request bodies that arrive in every form, or fail to arrive.
#include <gyre/http/body_reader.hpp>

#include "tests/http/http_client.hpp"

using namespace gyre_test;
using http::response;

namespace {

std::string sized(const std::string& body) {
  return begun_post + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
std::string chunked(const std::string& chunks) { return begun_post + "Transfer-Encoding: chunked\r\n\r\n" + chunks; }

/// Answers with the body, read piece by piece.
gyre::task<response> echo_pieces(http::request& r) {
  std::string all;
  std::array<std::byte, 7> buffer;
  for (bool lease = true;; lease = !lease) {
    const std::size_t before = all.size();
    if (lease) {
      all.append(co_await r.body().receive());
    } else {
      const std::size_t n = co_await r.body().read_some(buffer);
      all.append(reinterpret_cast<const char*>(buffer.data()), n);
    }
    if (all.size() == before) break;
  }
  EXPECT_TRUE(r.body().at_end());
  EXPECT_EQ(r.body().received(), all.size());
  co_return response::text(std::move(all));
}

/// The bytes that a connection returns for this request.
std::string bytes_from(http::server_options options, std::string request) {
  std::string result;
  run_virtual([&]() -> gyre::task<> {
    reports none;
    http_test_client app(std::move(options));
    result = co_await app.exchange_bytes(request);
    EXPECT_EQ(none.texts, std::vector<std::string>()) << "what a client does wrong is not to be reported";
  });
  return result;
}
std::string bytes_from(http::handler routes, std::string request) {
  return bytes_from(options_for(std::move(routes)), std::move(request));
}

std::size_t answers_in(const std::string& bytes) {
  std::size_t count = 0;
  for (std::size_t at = bytes.find("HTTP/1.1 "); at != std::string::npos; at = bytes.find("HTTP/1.1 ", at + 1)) ++count;
  return count;
}
bool ends_with(const std::string& bytes, std::string_view end) { return bytes.ends_with(end); }

http::server_options limited_to(std::uint64_t bytes, http::handler routes) {
  http::server_options options = options_for(std::move(routes));
  options.limits.body = bytes;
  return options;
}

}  // namespace

TEST(request_body, a_body_of_a_known_length_is_read_whole_or_in_pieces) {
  const std::string body(100'000, 'b');
  for (const std::string& each : {std::string("x"), std::string("0123456789"), body}) {
    EXPECT_TRUE(ends_with(bytes_from(echo_body, sized(each)), "\r\n\r\n" + each));
    EXPECT_TRUE(ends_with(bytes_from(echo_pieces, sized(each)), "\r\n\r\n" + each));
  }
}

TEST(request_body, says_its_length_and_how_far_it_is) {
  auto look = [](http::request& r) -> gyre::task<response> {
    EXPECT_EQ(r.body().length(), 10U);
    EXPECT_FALSE(r.body().at_end());
    std::array<std::byte, 4> buffer;
    EXPECT_EQ(co_await r.body().read_some(buffer), 4U);
    EXPECT_EQ(r.body().received(), 4U);
    EXPECT_EQ(r.body().length(), 10U);
    EXPECT_EQ(co_await r.body().read_some({}), 0U);
    const std::string rest = co_await r.body().read_all();
    EXPECT_EQ(rest, "456789");
    EXPECT_EQ(co_await r.body().receive(), "");
    EXPECT_EQ(co_await r.body().read_all(), "");
    co_return response::text("seen");
  };
  EXPECT_TRUE(ends_with(bytes_from(look, sized("0123456789")), "seen"));
}

TEST(request_body, a_request_without_one_is_at_its_end) {
  auto look = [](http::request& r) -> gyre::task<response> {
    EXPECT_TRUE(r.body().at_end());
    EXPECT_EQ(r.body().length(), 0U);
    EXPECT_EQ(co_await r.body().receive(), "");
    co_return response::text("seen");
  };
  EXPECT_TRUE(ends_with(bytes_from(look, hello_request), "seen"));
  EXPECT_TRUE(ends_with(bytes_from(look, sized("")), "seen"));
}

TEST(request_body, in_chunks_is_read_without_their_frames) {
  const std::string chunks = "5\r\nhello\r\n1;ext=\"1\"\r\n \r\n00A\r\n0123456789\r\n0\r\n\r\n";
  EXPECT_TRUE(ends_with(bytes_from(echo_body, chunked(chunks)), "\r\n\r\nhello 0123456789"));
  EXPECT_TRUE(ends_with(bytes_from(echo_pieces, chunked(chunks)), "\r\n\r\nhello 0123456789"));
  EXPECT_TRUE(ends_with(bytes_from(echo_body, chunked("0\r\n\r\n")), "\r\n\r\n"));
}

TEST(request_body, gives_the_fields_behind_its_chunks) {
  auto look = [](http::request& r) -> gyre::task<response> {
    EXPECT_EQ(r.body().length(), std::nullopt);
    (void)co_await r.body().read_all();
    std::string text;
    for (const auto& each : r.body().trailers()) text.append(each.name).append("=").append(each.value).append(";");
    co_return response::text(std::move(text));
  };
  EXPECT_TRUE(ends_with(bytes_from(look, chunked("1\r\nx\r\n0\r\nSum: 7\r\nMore: yes\r\n\r\n")), "Sum=7;More=yes;"));
}

TEST(request_body, the_next_request_begins_where_it_ends) {
  const std::string requests = sized("one") + chunked("3\r\ntwo\r\n0\r\n\r\n") + sized("three") + hello_request;
  const auto bytes = bytes_from(echo_body, requests);
  EXPECT_EQ(answers_in(bytes), 4U);
  EXPECT_LT(bytes.find("one"), bytes.find("two"));
  EXPECT_LT(bytes.find("two"), bytes.find("three"));
}

TEST(request_body, beyond_the_limit_is_answered_with_413) {
  EXPECT_EQ(status_of(bytes_from(limited_to(4, echo_body), sized("1234"))), 200);
  EXPECT_EQ(status_of(bytes_from(limited_to(4, echo_body), sized("12345"))), 413);
  EXPECT_EQ(status_of(bytes_from(limited_to(4, echo_body), chunked("4\r\n1234\r\n0\r\n\r\n"))), 200);
  EXPECT_EQ(status_of(bytes_from(limited_to(4, echo_pieces), chunked("4\r\n1234\r\n1\r\n5\r\n0\r\n\r\n"))), 413);
}

TEST(request_body, beyond_the_limit_is_refused_before_the_client_has_sent_it) {
  const std::string request = begun_post + "Content-Length: 9000000000000000000\r\nExpect: 100-continue\r\n\r\n";
  const auto bytes = bytes_from(echo_body, request);
  EXPECT_EQ(status_of(bytes), 413);
  EXPECT_EQ(answers_in(bytes), 1U) << "and no 100 before";
}

TEST(request_body, a_route_may_raise_the_limit_or_lower_it) {
  auto own_limit = [](http::request& r) -> gyre::task<response> {
    r.body().set_limit(8);
    co_return co_await echo_body(r);
  };
  EXPECT_EQ(status_of(bytes_from(limited_to(4, own_limit), sized("12345678"))), 200);
  EXPECT_EQ(status_of(bytes_from(limited_to(400, own_limit), sized("123456789"))), 413);
}

TEST(request_body, malformed_chunks_are_answered_with_400_and_end_the_connection) {
  for (const char* const chunks :
       {"x\r\n", "5\r\nhelloXX0\r\n\r\n", "-1\r\n", "fffffffffffffffff\r\n", "1\nx\n0\n\n"}) {
    const auto bytes = bytes_from(echo_body, chunked(chunks) + hello_request);
    EXPECT_EQ(status_of(bytes), 400) << chunks;
    EXPECT_EQ(answers_in(bytes), 1U) << chunks;
    EXPECT_NE(bytes.find("Connection: close"), std::string::npos) << chunks;
  }
}

TEST(request_body, malformed_chunks_that_nobody_reads_end_the_connection_behind_the_answer) {
  const auto bytes = bytes_from(ignore_body, chunked("x\r\n") + hello_request);
  EXPECT_EQ(status_of(bytes), 200);
  EXPECT_EQ(answers_in(bytes), 1U);
  EXPECT_NE(bytes.find("Connection: close"), std::string::npos);
}

TEST(request_body, a_small_one_that_nobody_wants_is_skipped_and_the_connection_kept) {
  const auto bytes =
      bytes_from(ignore_body, sized(std::string(65'536, 'b')) + chunked("3\r\nabc\r\n0\r\n\r\n") + hello_request);
  EXPECT_EQ(answers_in(bytes), 3U);
  EXPECT_EQ(bytes.find("Connection: close"), std::string::npos);
}

TEST(request_body, a_large_one_that_nobody_wants_ends_the_connection_behind_the_answer) {
  const auto bytes = bytes_from(ignore_body, sized(std::string(65'537, 'b')) + hello_request);
  EXPECT_EQ(status_of(bytes), 200);
  EXPECT_EQ(answers_in(bytes), 1U);
  EXPECT_NE(bytes.find("Connection: close"), std::string::npos);
  const auto chunks =
      bytes_from(ignore_body, chunked("20000\r\n" + std::string(0x20000, 'b') + "\r\n0\r\n\r\n") + hello_request);
  EXPECT_EQ(answers_in(chunks), 1U);
}

TEST(request_body, long_extensions_do_not_pass_the_limit) {
  std::string chunks;
  for (int i = 0; i < 100; ++i) chunks += "1;" + std::string(4080, 'x') + "\r\nA\r\n";
  const auto bytes = bytes_from(echo_body, chunked(chunks + "0\r\n\r\n") + hello_request);
  EXPECT_EQ(status_of(bytes), 400);
  EXPECT_EQ(answers_in(bytes), 1U);
}

TEST(request_body, one_that_is_large_by_its_frames_is_not_skipped_either) {
  std::string chunks;
  for (int i = 0; i < 10'000; ++i) chunks += "00001\r\nA\r\n";
  const auto bytes = bytes_from(ignore_body, chunked(chunks + "0\r\n\r\n") + hello_request);
  EXPECT_EQ(answers_in(bytes), 1U);
}

TEST(request_body, the_rest_of_one_that_was_read_in_part_is_skipped) {
  auto first_bytes = [](http::request& r) -> gyre::task<response> {
    std::array<std::byte, 2> buffer;
    (void)co_await r.body().read_some(buffer);
    co_return response::text("enough");
  };
  EXPECT_EQ(
      answers_in(bytes_from(first_bytes, sized("0123456789") + chunked("5\r\nhello\r\n0\r\n\r\n") + hello_request)),
      3U);
}

TEST(request_body, a_handler_may_discard_the_rest_whatever_its_size) {
  auto skip_rest = [](http::request& r) -> gyre::task<response> {
    r.body().set_limit(~std::uint64_t{0});
    for (std::string_view piece = "x"; !piece.empty();) piece = co_await r.body().receive();
    co_return response::text(r.body().at_end() ? "skipped" : "left");
  };
  EXPECT_TRUE(ends_with(bytes_from(skip_rest, chunked("1\r\nx\r\n5\r\nhello\r\n0\r\n\r\n")), "skipped"));
}

TEST(request_body, one_that_ends_early_is_nobodys_fault_and_not_answered) {
  EXPECT_EQ(bytes_from(echo_body, begun_post + "Content-Length: 10\r\n\r\n01234"), "");
  EXPECT_EQ(bytes_from(echo_body, chunked("5\r\nhel")), "");
}

TEST(request_body, a_handler_hears_how_much_came_before_the_client_left) {
  auto count = [](http::request& r) -> gyre::task<response> {
    try {
      (void)co_await r.body().read_all();
    } catch (const gyre::incomplete_transfer& error) {
      EXPECT_EQ(error.transferred(), 5U);
      co_return response::text("it left");
    }
    co_return response::text("it came");
  };
  EXPECT_TRUE(ends_with(bytes_from(count, begun_post + "Content-Length: 10\r\n\r\n01234"), "it left"));
}

TEST(request_body, a_form_is_read_decoded_and_of_no_other_type) {
  auto show = [](http::request& r) -> gyre::task<response> {
    std::string text;
    for (const auto& [name, value] : co_await r.form()) text += name + "=" + value + ";";
    co_return response::text(std::move(text));
  };
  run_virtual([&]() -> gyre::task<> {
    http_test_client app{http::handler(show)};
    const std::string form = "application/x-www-form-urlencoded";
    const auto good = co_await app.post("/", "a=1&b=two+words%21", form + " ; charset=utf-8");
    EXPECT_EQ(good.body, "a=1;b=two words!;");
    const auto percent = co_await app.post("/", "a=100%", form);
    EXPECT_EQ(percent.body, "a=100%;");
    std::string many = "a";
    for (int i = 0; i < 1000; ++i) many += "&a";
    const auto too_many = co_await app.post("/", many, form);
    EXPECT_EQ(too_many.status, 413);
    EXPECT_EQ(too_many.body, "too many form fields\n");
    const auto other = co_await app.post("/", "{}", "application/json");
    EXPECT_EQ(other.status, 415);
  });
}

TEST(request_body, two_tasks_that_read_one_body_stop_the_program) {
  const auto read_twice = [](http::request& r) -> gyre::task<response> {
    auto both = gyre::gather(r.body().read_all(), r.body().read_all());
    (void)co_await std::move(both);
    co_return response();
  };
  EXPECT_DEATH((void)bytes_from(read_twice, begun_post + "Content-Length: 9\r\n\r\n"),
               "two tasks read the body of one request at the same time: let one task read");
}
