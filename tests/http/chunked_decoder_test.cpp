// tests/http/chunked_decoder_test.cpp: bodies in chunks, RFC 9112 §7.1. Every input is fed in pieces of every size.
#include <gyre/http/chunked_decoder.hpp>

#include "tests/http/feed.hpp"

using namespace gyre_test;
using http::parse_error;
using chunk_state = http::chunked_decoder::state;

TEST(chunked_decoder, chunks_become_one_body_and_what_follows_is_left) {
  const decoded_body body = decode_body("4\r\nWiki\r\n5\r\npedia\r\nE\r\n in\r\n\r\nchunks.\r\n0\r\n\r\n");
  EXPECT_EQ(body.state, chunk_state::complete);
  EXPECT_EQ(body.data, "Wikipedia in\r\n\r\nchunks.");
  const decoded_body first = decode_in_pieces("1\r\na\r\n0\r\n\r\nGET / HTTP/1.1", 100);
  EXPECT_EQ(first.consumed, 11U);
}

TEST(chunked_decoder, sizes_are_hexadecimal_in_both_cases_with_leading_zeros) {
  EXPECT_EQ(decode_body("a\r\n0123456789\r\n0\r\n\r\n").data, "0123456789");
  EXPECT_EQ(decode_body("A\r\n0123456789\r\n0\r\n\r\n").data, "0123456789");
  EXPECT_EQ(decode_body("0001\r\nx\r\n000\r\n\r\n").data, "x");
}

TEST(chunked_decoder, extensions_are_skipped) {
  EXPECT_EQ(decode_body("1;a=b;c=\"d;e\"\r\nx\r\n0;last\r\n\r\n").data, "x");
  EXPECT_EQ(decode_body("1 ; a = b\r\nx\r\n0\r\n\r\n").data, "x");
}

TEST(chunked_decoder, trailers_are_fields) {
  const decoded_body body = decode_body("0\r\nExpires: never\r\nX-Sum:  7 \r\n\r\n");
  EXPECT_EQ(body.state, chunk_state::complete);
  EXPECT_EQ(body.trailers, (lines{"Expires: never", "X-Sum: 7"}));
}

TEST(chunked_decoder, it_wants_more_until_the_end_of_the_body) {
  for (const char* part : {"", "4", "4\r", "4\r\n", "4\r\nWi", "4\r\nWiki", "4\r\nWiki\r", "4\r\nWiki\r\n", "0\r\n",
                           "0\r\n\r", "0\r\nA: b\r\n"})
    EXPECT_EQ(decode_body(part).state, chunk_state::more) << part;
}

TEST(chunked_decoder, tricks_with_sizes_are_refused) {
  for (const char* bad :
       {"\r\n\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\nx\r\n", "1 \r\nx\r\n", "1\t\r\nx\r\n", "1 2\r\n",
        "1,\r\n", "1000000000000000\r\n", "ffffffffffffffffffff\r\n", "1\rx\r\n"}) {
    const parse_error error = decode_body(bad).error;
    EXPECT_TRUE(error == parse_error::bad_chunk_size || error == parse_error::bad_chunk_extension) << bad;
  }
}

TEST(chunked_decoder, line_ends_are_cr_lf_and_nothing_else) {
  EXPECT_EQ(decode_body("1\nx\r\n0\r\n\r\n").error, parse_error::bare_line_feed);
  EXPECT_EQ(decode_body("1;a\nx\r\n0\r\n\r\n").error, parse_error::bare_line_feed);
  EXPECT_EQ(decode_body("0\r\nA: b\n\r\n").error, parse_error::bare_line_feed);
  EXPECT_EQ(decode_body("0\r\n\n").error, parse_error::bare_line_feed);
}

TEST(chunked_decoder, data_ends_where_its_size_says) {
  for (const char* bad :
       {"1\r\nxy\r\n0\r\n\r\n", "2\r\nx\r\n0\r\n\r\n", "1\r\nx\n0\r\n\r\n", "1\r\nx0\r\n\r\n", "1\r\nx\r0\r\n"})
    EXPECT_EQ(decode_body(bad).error, parse_error::bad_chunk_end) << bad;
}

TEST(chunked_decoder, bad_extensions_and_trailers_are_refused) {
  EXPECT_EQ(decode_body("1;a=\x01\r\nx\r\n").error, parse_error::bad_chunk_extension);
  EXPECT_EQ(decode_body("1;a\rb\r\nx\r\n").error, parse_error::bad_chunk_extension);
  EXPECT_EQ(decode_body("0\r\nA : b\r\n\r\n").error, parse_error::space_before_colon);
  EXPECT_EQ(decode_body("0\r\n A: b\r\n\r\n").error, parse_error::folded_line);
}

// RFC 9112 §7.1.1.
TEST(chunked_decoder, an_extension_that_does_not_match_the_grammar_is_refused) {
  for (const char* bad :
       {";",      ";=x",    ";a=",       ";a;",    ";;a",         "; ;a",      ";a b",      ";a=b c", ";a==b",
        ";a=b=c", ";a=\"b", ";a=\"b\"c", ";a=b\"", ";a=\"\\\"",   ";a ",       ";a=b ",     ";a = ",  ";\"a\"",
        ";a,b",   ";a=b/c", " ;",        " ; a =", ";a=\xc3\xa4", ";\xc3\xa4", ";a=\"b\"\t"})
    EXPECT_EQ(decode_body("1" + std::string(bad) + "\r\nx\r\n0\r\n\r\n").error, parse_error::bad_chunk_extension)
        << bad;
  EXPECT_EQ(http::status_for(parse_error::bad_chunk_extension), 400);
}

TEST(chunked_decoder, an_extension_that_matches_the_grammar_is_skipped) {
  for (const char* good : {";a", ";a=b", ";a;b", ";a=b;c=d", " ; a = b ; c", "\t;\ta\t=\tb", ";a=\"\"", ";a=\"b c;d=\"",
                           ";a=\"\\\"\\\\\"", ";a=\"\t\xc3\xa4\"", ";!#$%&'*+-.^_`|~=1"})
    EXPECT_EQ(decode_body("1" + std::string(good) + "\r\nx\r\n0" + good + "\r\n\r\n").data, "x") << good;
}

TEST(chunked_decoder, a_control_character_in_an_extension_is_refused_wherever_it_stands) {
  for (const char* where : {";@", ";a@", ";a=@", ";a=b@", ";a=\"@\"", ";a=\"\\@\"", ";a=\"b\"@"}) {
    for (int control = 0; control < 0x80; ++control) {
      if (control == '\n' || (control >= 0x20 && control != 0x7f)) continue;
      std::string extension = where;
      extension[extension.find('@')] = static_cast<char>(control);
      // A tab is white space, or a part of a string.
      if (control == '\t' && extension != ";a=b\t" && extension != ";a\t" && extension != ";a=\"b\"\t" &&
          extension != ";\t" && extension != ";a=\t")
        continue;
      EXPECT_EQ(decode_body("1" + extension + "\r\nx\r\n0\r\n\r\n").error, parse_error::bad_chunk_extension)
          << where << " with " << control;
    }
  }
}

TEST(chunked_decoder, trailers_and_extensions_have_limits) {
  http::chunk_limits limits;
  limits.line = 20;
  limits.trailer = 30;
  EXPECT_EQ(decode_body("1;" + std::string(16, 'x') + "\r\nx\r\n", limits).error, parse_error::none);
  EXPECT_EQ(decode_body("1;" + std::string(17, 'x') + "\r\nx\r\n", limits).error, parse_error::bad_chunk_extension);
  EXPECT_EQ(decode_body("1;" + std::string(1000, 'x'), limits).error, parse_error::bad_chunk_extension);
  EXPECT_EQ(decode_body("0\r\nA: " + std::string(100, 'x'), limits).error, parse_error::trailer_too_large);
  std::string many = "0\r\n";
  for (int i = 0; i < 10; ++i) many += "A: b\r\n";
  EXPECT_EQ(decode_body(many + "\r\n", limits).error, parse_error::trailer_too_large);
}

TEST(chunked_decoder, frames_may_be_much_larger_than_the_data_only_up_to_a_limit) {
  http::chunk_limits limits;
  limits.overhead = 100;
  const std::string chunk = "1;" + std::string(30, 'x') + "\r\nA\r\n";  // 36 bytes around one
  std::string chunks;
  for (int i = 0; i < 4; ++i) chunks += chunk;
  EXPECT_EQ(decode_body(chunks + "0\r\n\r\n", limits).data, "AAAA");
  for (int i = 0; i < 4; ++i) chunks += chunk;
  EXPECT_EQ(decode_body(chunks, limits).error, parse_error::bad_chunk_extension);
}

TEST(chunked_decoder, long_extensions_do_not_go_on_without_end) {
  std::string chunks;
  for (int i = 0; i < 8; ++i) chunks += "1;" + std::string(4080, 'x') + "\r\nA\r\n";
  EXPECT_EQ(decode_in_pieces(chunks, 1000).error, parse_error::bad_chunk_extension);
}

TEST(chunked_decoder, chunks_of_one_byte_and_signed_ones_may_be_as_many_as_they_like) {
  std::string small;
  for (int i = 0; i < 100'000; ++i) small += "0001\r\nA\r\n";
  EXPECT_EQ(decode_in_pieces(small + "0\r\n\r\n", 1000).data.size(), 100'000U);
  std::string large;
  for (int i = 0; i < 1000; ++i)
    large += "100;chunk-signature=" + std::string(64, 'f') + "\r\n" + std::string(256, 'A') + "\r\n";
  EXPECT_EQ(decode_in_pieces(large + "0\r\n\r\n", 1000).data.size(), 256'000U);
}

TEST(chunked_decoder, it_can_be_used_again) {
  http::chunked_decoder decoder;
  (void)decoder.next("zz\r\n");
  EXPECT_EQ(decoder.error(), parse_error::bad_chunk_size);
  decoder.reset();
  EXPECT_EQ(decoder.next("1\r\nx").what, chunk_state::data);
}

TEST(chunked_decoder, each_body_has_its_own_limit_for_frames) {
  http::chunk_limits limits;
  limits.overhead = 40;
  http::chunked_decoder decoder(limits);
  for (int i = 0; i < 10; ++i) {
    decoder.reset();
    EXPECT_EQ(decoder.next("1;" + std::string(30, 'x') + "\r\nA").what, chunk_state::data);
  }
}

TEST(chunked_decoder, a_lenient_one_takes_white_space_after_sizes) {
  const auto lenient = [](std::string_view bytes) { return decode_body(bytes, {}, true); };
  const char* const padded = "1  \r\nx\r\n0 \t\r\n\r\n";
  EXPECT_EQ(lenient(padded).state, http::chunked_decoder::state::complete);
  EXPECT_EQ(lenient(padded).data, "x");
  EXPECT_EQ(decode_body(padded).error, parse_error::bad_chunk_size);
  EXPECT_EQ(lenient("1 x\r\nx\r\n0\r\n\r\n").error, parse_error::bad_chunk_extension);
  EXPECT_EQ(lenient(" 1\r\nx\r\n0\r\n\r\n").error, parse_error::bad_chunk_size);
  EXPECT_EQ(lenient("1\nx\r\n0\r\n\r\n").error, parse_error::bare_line_feed);
  EXPECT_EQ(lenient("1\r\nx\n0\r\n\r\n").error, parse_error::bad_chunk_end) << "a wrong size must be noticed";
}
