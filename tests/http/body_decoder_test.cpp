// tests/http/body_decoder_test.cpp: bodies of every framing, fed in pieces of every size.
#include <gyre/http/body_decoder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

using namespace gyre::http;

namespace {

const framing no_body = {};
const framing ten_bytes = {.body = body_kind::sized, .length = 10};
const framing in_chunks = {.body = body_kind::chunked};
const framing to_the_end = {.body = body_kind::until_end};

/// The body, and the bytes after it. Each call of take() gets at most `size` bytes, from a different place in memory.
struct taken_body {
  std::string body;
  std::string rest;
  bool operator==(const taken_body&) const = default;
};

taken_body take_in_pieces(body_decoder& decoder, std::string_view bytes, std::size_t size) {
  taken_body result;
  while (!bytes.empty() && !decoder.at_end() && decoder.error() == parse_error::none) {
    const std::string piece(bytes.substr(0, size));
    std::string_view rest = piece;
    result.body += decoder.take(rest);
    bytes.remove_prefix(piece.size() - rest.size());
  }
  result.rest = bytes;
  return result;
}

taken_body take_all(const framing& how, std::string_view bytes) {
  body_decoder whole;
  whole.begin(how);
  const taken_body result = take_in_pieces(whole, bytes, bytes.size());
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    body_decoder parts;
    parts.begin(how);
    EXPECT_EQ(take_in_pieces(parts, bytes, size), result) << "in pieces of " << size;
    EXPECT_EQ(parts.received(), result.body.size());
  }
  return result;
}

}  // namespace

TEST(body_decoder, a_message_without_a_body_takes_nothing) {
  EXPECT_EQ(take_all(no_body, "next"), (taken_body{"", "next"}));
  body_decoder unused;
  EXPECT_TRUE(unused.at_end());
}

TEST(body_decoder, a_body_with_a_length_leaves_the_bytes_after_it) {
  EXPECT_EQ(take_all(ten_bytes, "0123456789next"), (taken_body{"0123456789", "next"}));
}

TEST(body_decoder, a_chunked_body_leaves_the_bytes_after_its_trailers) {
  EXPECT_EQ(take_all(in_chunks, "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nA: b\r\n\r\nnext"), (taken_body{"abcde", "next"}));
}

TEST(body_decoder, a_body_up_to_the_end_of_the_stream_takes_everything) {
  EXPECT_EQ(take_all(to_the_end, "0123456789next"), (taken_body{"0123456789next", ""}));
}

TEST(body_decoder, the_end_of_the_stream_completes_only_a_body_that_has_no_other_end) {
  for (const framing& each : {ten_bytes, in_chunks}) {
    body_decoder decoder;
    decoder.begin(each);
    EXPECT_FALSE(decoder.ends_with_stream());
    EXPECT_FALSE(decoder.end_of_stream());
  }
  body_decoder decoder;
  decoder.begin(to_the_end);
  EXPECT_TRUE(decoder.ends_with_stream());
  EXPECT_TRUE(decoder.end_of_stream());
  EXPECT_TRUE(decoder.at_end());
  EXPECT_FALSE(decoder.ends_with_stream());
}

TEST(body_decoder, a_caller_limits_the_piece_that_it_takes) {
  body_decoder decoder;
  decoder.begin(ten_bytes);
  std::string_view bytes = "0123456789";
  EXPECT_EQ(decoder.take(bytes, 4), "0123");
  EXPECT_EQ(bytes, "456789");
}

TEST(body_decoder, the_length_is_the_announced_one_from_begin_to_end) {
  body_decoder decoder;
  decoder.begin(ten_bytes);
  EXPECT_EQ(decoder.length(), 10U);
  (void)take_in_pieces(decoder, "01234", 2);
  EXPECT_EQ(decoder.length(), 10U);
  EXPECT_EQ(decoder.left(), 5U);
  for (const framing& each : {in_chunks, to_the_end}) {
    decoder.begin(each);
    EXPECT_EQ(decoder.length(), std::nullopt);
    EXPECT_EQ(decoder.left(), body_decoder::unknown);
  }
}

TEST(body_decoder, bytes_that_bypass_it_count) {
  body_decoder decoder;
  decoder.begin(ten_bytes);
  EXPECT_TRUE(decoder.is_plain());
  decoder.bypass(10);
  EXPECT_TRUE(decoder.at_end());
  EXPECT_FALSE(decoder.is_plain());
  EXPECT_EQ(decoder.received(), 10U);
  decoder.begin(to_the_end);
  decoder.bypass(7);
  EXPECT_TRUE(decoder.is_plain());
  EXPECT_EQ(decoder.left(), body_decoder::unknown);
  decoder.begin(in_chunks);
  EXPECT_FALSE(decoder.is_plain());
}

TEST(body_decoder, malformed_chunks_are_an_error_that_the_next_body_does_not_have) {
  body_decoder decoder;
  decoder.begin(in_chunks);
  std::string_view bytes = "3\r\nabcd\r\n";
  EXPECT_EQ(decoder.take(bytes), "abc");
  EXPECT_EQ(decoder.error(), parse_error::none);
  EXPECT_EQ(decoder.take(bytes), "");
  EXPECT_EQ(decoder.error(), parse_error::bad_chunk_end);
  EXPECT_FALSE(decoder.at_end());
  decoder.begin(ten_bytes);
  EXPECT_EQ(decoder.error(), parse_error::none);
}

TEST(body_decoder, looking_ahead_finds_malformed_chunks_and_takes_nothing) {
  body_decoder decoder;
  decoder.begin(in_chunks);
  EXPECT_EQ(decoder.look_ahead("3\r\nabc\r\nx\r\n"), parse_error::bad_chunk_size);
  EXPECT_EQ(decoder.look_ahead("3\r\nabc\r\n0\r\n\r\nnext"), parse_error::none);
  EXPECT_EQ(decoder.received(), 0U);
  EXPECT_EQ(take_in_pieces(decoder, "3\r\nabc\r\n0\r\n\r\n", 100).body, "abc");
  EXPECT_EQ(decoder.look_ahead("x"), parse_error::none);
}

TEST(body_decoder, only_a_chunked_body_has_trailers) {
  body_decoder decoder;
  decoder.begin(in_chunks);
  (void)take_in_pieces(decoder, "0\r\nSum: 7\r\n\r\n", 100);
  ASSERT_EQ(decoder.trailers().size(), 1U);
  EXPECT_EQ(decoder.trailers()[0].value, "7");
  decoder.begin(ten_bytes);
  EXPECT_TRUE(decoder.trailers().empty());
}

TEST(body_decoder, a_lenient_decoder_accepts_white_space_after_the_size_of_a_chunk) {
  for (const bool lenient : {false, true}) {
    body_decoder decoder({}, lenient);
    decoder.begin(in_chunks);
    std::string_view bytes = "3 \r\nabc\r\n0\r\n\r\n";
    EXPECT_EQ(decoder.take(bytes), lenient ? "abc" : "");
    EXPECT_EQ(decoder.error(), lenient ? parse_error::none : parse_error::bad_chunk_size);
  }
}
