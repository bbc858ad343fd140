// tests/load/response_reader_test.cpp: where responses end, whatever the pieces in which they arrive.
#include "programs/gyre/load/response_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

using programs::response_reader;
using state = response_reader::state;

namespace {

const std::string three_responses =
    "HTTP/1.1 100 Continue\r\n\r\n"
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: 1\r\n\r\n"
    "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";

/// The statuses of the responses in `text`, which arrives in pieces of at most `most` bytes. A failure counts as -1.
std::vector<int> statuses_of(std::string_view text, std::size_t most, std::string_view method = "GET") {
  response_reader reader(method);
  std::vector<int> statuses;
  while (!text.empty()) {
    std::string_view piece = text.substr(0, most);
    text.remove_prefix(piece.size());
    while (!piece.empty()) {
      const state found = reader.take(piece);
      if (found == state::complete) statuses.push_back(reader.status());
      if (found != state::failed) continue;
      statuses.push_back(-1);
      return statuses;
    }
  }
  return statuses;
}

}  // namespace

TEST(response_reader, finds_the_same_responses_in_pieces_of_any_size) {
  for (std::size_t most = 1; most <= three_responses.size(); ++most)
    EXPECT_EQ(statuses_of(three_responses, most), (std::vector{200, 404, 204})) << most;
}

TEST(response_reader, tells_whether_the_connection_may_be_used_again) {
  response_reader reader("GET");
  std::string_view rest = three_responses;
  std::vector<bool> kept;
  while (!rest.empty())
    if (reader.take(rest) == state::complete) kept.push_back(reader.keep_alive());
  EXPECT_EQ(kept, (std::vector{true, true, false}));
}

TEST(response_reader, responses_to_head_have_no_body) {
  const std::string two = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  for (const std::size_t most : {std::size_t{1}, two.size()})
    EXPECT_EQ(statuses_of(two, most, "HEAD"), (std::vector{200, 200}));
}

TEST(response_reader, a_body_without_length_ends_with_the_connection) {
  response_reader reader("GET");
  std::string_view bytes = "HTTP/1.1 200 OK\r\n\r\nhel";
  EXPECT_EQ(reader.take(bytes), state::more);
  EXPECT_TRUE(bytes.empty());
  bytes = "lo";
  EXPECT_EQ(reader.take(bytes), state::more);
  EXPECT_TRUE(reader.ends_here());
  EXPECT_FALSE(reader.is_between());
  reader.reset();
  EXPECT_TRUE(reader.is_between());
}

TEST(response_reader, an_end_within_a_response_is_no_end_of_it) {
  for (std::size_t size = 1; size < 40; ++size) {
    response_reader reader("GET");
    std::string_view bytes = std::string_view("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").substr(0, size);
    EXPECT_EQ(reader.take(bytes), state::more) << size;
    EXPECT_FALSE(reader.ends_here());
    EXPECT_FALSE(reader.is_between());
  }
}

TEST(response_reader, what_is_no_response_fails_with_a_reason) {
  for (const std::string_view bad :
       {"nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"}) {
    EXPECT_EQ(statuses_of(bad, bad.size()), std::vector{-1}) << bad;
    EXPECT_EQ(statuses_of(bad, 1), std::vector{-1}) << bad;
  }
}
