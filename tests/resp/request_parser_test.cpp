// tests/resp/request_parser_test.cpp: whole, split, moved and hostile requests.
#include "programs/resp_server/request_parser.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace resp;
using namespace std::literals;

namespace {

using parsed_request = std::vector<std::string>;

struct outcome {
  std::vector<parsed_request> requests;
  std::string error;
  std::size_t unfinished = 0;  // bytes left over that are no complete request

  bool operator==(const outcome&) const = default;
};

void PrintTo(const outcome& o, std::ostream* out) {
  *out << o.requests.size() << " requests, error '" << o.error << "', " << o.unfinished << " bytes left:";
  for (const parsed_request& each : o.requests) {
    *out << " [";
    for (const std::string& argument : each) *out << '"' << argument << "\" ";
    *out << ']';
  }
}

// Feeds the input in pieces of the sizes that `next` returns. Every call gets the bytes in a block of exactly their
// size, so that sanitizers notice each access outside it. The block moves with each call, so the parser must not keep
// pointers.
outcome feed(std::string_view input, const std::function<std::size_t()>& next, const parser_limits& limits = {}) {
  request_parser parser(limits);
  outcome result;
  std::string buffered;
  while (!input.empty()) {
    const std::size_t size = std::min(input.size(), next());
    buffered.append(input.substr(0, size));
    input.remove_prefix(size);
    for (bool again = true; again && !buffered.empty();) {
      const auto block = std::make_unique<char[]>(std::max<std::size_t>(1, buffered.size()));
      std::copy(buffered.begin(), buffered.end(), block.get());
      const parse_result parsed = parser.parse({block.get(), buffered.size()});
      EXPECT_LE(parsed.consumed, buffered.size());
      if (parsed.status == parse_status::error) {
        result.error = parser.error();
        return result;
      }
      again = parsed.status == parse_status::request;
      if (again && !parser.arguments().empty())
        result.requests.emplace_back(parser.arguments().begin(), parser.arguments().end());
      buffered.erase(0, parsed.consumed);
      if (!again) {
        EXPECT_GT(parser.bytes_needed(), buffered.size());
      }
    }
  }
  result.unfinished = buffered.size();
  return result;
}

outcome whole(std::string_view input, const parser_limits& limits = {}) {
  return feed(input, [&] { return input.size(); }, limits);
}

// Feeds the input whole, byte by byte, and split at every position. The result must always be the same.
outcome however_split(std::string_view input, const parser_limits& limits = {}) {
  const outcome expected = whole(input, limits);
  EXPECT_EQ(feed(input, [] { return std::size_t{1}; }, limits), expected);
  for (std::size_t split = 1; split < input.size(); ++split) {
    bool first = true;
    const auto next = [&] { return std::exchange(first, false) ? split : input.size(); };
    EXPECT_EQ(feed(input, next, limits), expected) << "split at " << split;
  }
  return expected;
}

outcome requests(std::vector<parsed_request> all) { return {.requests = std::move(all), .error = {}, .unfinished = 0}; }
const std::string not_a_bulk_string = "ERR Protocol error: expected '$'";

outcome error(std::string text) { return {.requests = {}, .error = std::move(text), .unfinished = 0}; }

}  // namespace

TEST(request_parser, an_array_of_bulk_strings_is_a_request) {
  EXPECT_EQ(however_split("*1\r\n$4\r\nPING\r\n"), requests({{"PING"}}));
  EXPECT_EQ(however_split("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$12\r\nhello, world\r\n"),
            requests({{"SET", "key", "hello, world"}}));
  EXPECT_EQ(however_split("*2\r\n$3\r\nGET\r\n$0\r\n\r\n"), requests({{"GET", ""}}));
  EXPECT_EQ(however_split("*2\r\n$4\r\nECHO\r\n$7\r\na\r\n$b\0c\r\n"s), requests({{"ECHO", "a\r\n$b\0c"s}}));
}

TEST(request_parser, requests_follow_each_other) {
  EXPECT_EQ(however_split("*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\nPING\r\nget b\n*1\r\n$4\r\nQUIT\r\n"),
            requests({{"PING"}, {"GET", "a"}, {"PING"}, {"get", "b"}, {"QUIT"}}));
}

TEST(request_parser, an_empty_request_is_skipped) {
  EXPECT_EQ(however_split("\r\n\n  \t \r\n*0\r\n*-1\r\n*-7\r\nPING\r\n\r\n"), requests({{"PING"}}));
  EXPECT_EQ(however_split("\r\n*0\r\n"), requests({}));
}

TEST(request_parser, an_inline_request_is_a_line_of_words) {
  EXPECT_EQ(however_split("PING\r\n"), requests({{"PING"}}));
  EXPECT_EQ(however_split("PING\n"), requests({{"PING"}}));
  EXPECT_EQ(however_split("  set\tkey   value  \r\n"), requests({{"set", "key", "value"}}));
  EXPECT_EQ(however_split("set k \"a b\"\r\n"), requests({{"set", "k", "\"a", "b\""}}));  // quotes mean nothing
}

TEST(request_parser, an_incomplete_request_waits) {
  for (const std::string_view begun : {"*", "*1", "*1\r", "*1\r\n", "*1\r\n$", "*1\r\n$4", "*1\r\n$4\r\nPING",
                                       "*1\r\n$4\r\nPING\r", "PING", "PING\r"}) {
    const outcome waiting = however_split(begun);
    EXPECT_EQ(waiting.error, "") << begun;
    EXPECT_TRUE(waiting.requests.empty()) << begun;
    EXPECT_EQ(waiting.unfinished, begun.size()) << begun;
  }
}

TEST(request_parser, a_count_that_is_no_number_or_too_large_is_refused) {
  const std::string count = "ERR Protocol error: invalid multibulk length";
  for (const std::string_view text :
       {"*x\r\n", "*\r\n", "*1x\r\n", "* 1\r\n", "*+1\r\n", "*01\r\n", "*-0\r\n", "*1.0\r\n", "*2147483648\r\n",
        "*65537\r\n", "*99999999999999999999\r\n", "*111111111111111111111", "*1\n$4\r\nPING\r\n"})
    EXPECT_EQ(however_split(text), error(count)) << text;
  const std::string length = "ERR Protocol error: invalid bulk length";
  for (const std::string_view text : {"$x\r\n", "$\r\n", "$-1\r\n", "$-0\r\n", "$01\r\n", "$ 1\r\n", "$4 \r\n",
                                      "$67108865\r\n", "$9223372036854775807\r\n", "$18446744073709551617\r\n"})
    EXPECT_EQ(however_split("*1\r\n" + std::string(text)), error(length)) << text;
}

TEST(request_parser, an_array_of_something_else_is_refused) {
  EXPECT_EQ(however_split("*1\r\n:1\r\n"), error(not_a_bulk_string));
  EXPECT_EQ(however_split("*2\r\n$1\r\na\r\n*1\r\n"), error(not_a_bulk_string));
  EXPECT_EQ(however_split("*1\r\n\r\n"), error(not_a_bulk_string));
}

TEST(request_parser, a_line_has_a_limit) {
  const parser_limits limits{.max_line_bytes = 20};
  EXPECT_EQ(however_split(std::string(20, 'x') + "\n", limits), requests({{std::string(20, 'x')}}));
  const auto too_big = [&](const std::string& input, const std::string& what) {
    EXPECT_EQ(however_split(input, limits), error("ERR Protocol error: too big " + what)) << input;
  };
  too_big(std::string(21, 'x'), "inline request");
  too_big(std::string(21, 'x') + "\n", "inline request");
}

TEST(request_parser, a_request_has_limits) {
  const parser_limits limits{.max_arguments = 2, .max_bulk_bytes = 10, .max_request_bytes = 30};
  EXPECT_EQ(however_split("*2\r\n$1\r\na\r\n$10\r\n0123456789\r\n", limits), requests({{"a", "0123456789"}}));
  EXPECT_EQ(however_split("*3\r\n", limits), error("ERR Protocol error: invalid multibulk length"));
  EXPECT_EQ(however_split("*1\r\n$11\r\n", limits), error("ERR Protocol error: invalid bulk length"));
  EXPECT_EQ(however_split("*2\r\n$8\r\n01234567\r\n$10\r\n", limits), error("ERR Protocol error: too big request"));
}

TEST(request_parser, the_parser_reports_how_much_a_big_argument_needs) {
  const parser_limits limits;
  request_parser parser(limits);
  const std::string header = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n";
  std::string input = header + "abc";
  EXPECT_EQ(parser.parse(input).status, parse_status::need_more);
  EXPECT_EQ(parser.bytes_needed(), header.size() + 1'000'002);
  input.resize(header.size() + 1'000'001, 'v');
  EXPECT_EQ(parser.parse(input).status, parse_status::need_more);
  input += "\r\n";
  EXPECT_EQ(parser.parse(input).status, parse_status::request);
  EXPECT_EQ(parser.arguments()[0], "SET");
  EXPECT_EQ(parser.arguments()[2].size(), 1'000'000u);
}

// If every call began at the front again, it would scan 8,000,000,000 bytes and take seconds.
TEST(request_parser, a_large_request_is_read_once) {
  constexpr std::size_t count = 60'000;
  std::string input = "*" + std::to_string(count) + "\r\n";
  for (std::size_t i = 0; i < count; ++i) input += "$1\r\na\r\n";
  const parser_limits limits;
  request_parser parser(limits);
  for (std::size_t size = 1; size < input.size(); ++size)
    ASSERT_EQ(parser.parse(std::string_view(input).substr(0, size)).status, parse_status::need_more);
  ASSERT_EQ(parser.parse(input).status, parse_status::request);
  EXPECT_EQ(parser.arguments().size(), count);
}

TEST(request_parser, arguments_are_views_into_the_input) {
  const std::string_view input = "*2\r\n$3\r\nGET\r\n$1\r\na\r\n";
  const parser_limits limits;
  request_parser parser(limits);
  ASSERT_EQ(parser.parse(input).status, parse_status::request);
  EXPECT_EQ(parser.arguments()[0].data(), input.data() + 8);
  EXPECT_EQ(parser.arguments()[1].data(), input.data() + 17);
}

TEST(request_parser, random_mutations_in_random_pieces_never_disagree) {
  const std::string seeds[] = {"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n*1\r\n$4\r\nPING\r\n",
                               "set key \"value\" 'x'\r\n*0\r\n\r\n*2\r\n$3\r\nGET\r\n$0\r\n\r\n", "*10\r\n$12\r\nabc"};
  constexpr std::string_view bytes = "*$\r\n0123456789-\"'\\x aA\0\xff"sv;
  const parser_limits limits{.max_arguments = 8, .max_bulk_bytes = 64, .max_request_bytes = 128, .max_line_bytes = 24};
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (int round = 0; round < 20'000; ++round) {
    std::string input = seeds[below(3)];
    for (std::size_t changes = below(4); changes-- > 0 && !input.empty();) {
      const std::size_t at = below(input.size());
      const std::size_t kind = below(3);
      if (kind == 0) input[at] = bytes[below(bytes.size())];
      if (kind == 1) input.erase(at, 1 + below(3));
      if (kind == 2) input.insert(at, 1, bytes[below(bytes.size())]);
    }
    ASSERT_EQ(feed(input, [&] { return 1 + below(5); }, limits), whole(input, limits)) << testing::PrintToString(input);
  }
}
