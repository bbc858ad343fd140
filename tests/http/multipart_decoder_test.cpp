// tests/http/multipart_decoder_test.cpp: forms with files, RFC 7578. Every input is fed in pieces of every size, and in
// two pieces at every position.
#include <gyre/http/multipart_decoder.hpp>

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace http = gyre::http;
using http::multipart_error;
using form_state = http::multipart_decoder::state;

struct decoded_part {
  std::string name;
  std::string file_name;
  std::string type;
  std::string data;
  bool ended = false;
  bool operator==(const decoded_part&) const = default;
};

struct decoded_form {
  form_state what = form_state::more;
  multipart_error error = multipart_error::none;
  std::vector<decoded_part> parts;
  bool operator==(const decoded_form&) const = default;
};

std::ostream& operator<<(std::ostream& out, const decoded_form& form) {
  out << "state " << static_cast<int>(form.what) << ", " << http::describe(form.error);
  for (const decoded_part& each : form.parts) out << " | " << each.name << " (" << each.file_name << ") " << each.data;
  return out;
}

void take_step(const http::multipart_decoder& decoder, const http::multipart_decoder::step& step, decoded_form& form) {
  form.what = step.what;
  form.error = decoder.error();
  if (step.what == form_state::part_begin) {
    const http::multipart_part& part = decoder.part();
    form.parts.push_back({part.name, part.file_name.value_or("-"), part.content_type, "", false});
  } else if (step.what == form_state::data) {
    EXPECT_FALSE(step.data.empty());
    form.parts.back().data += step.data;
  } else if (step.what == form_state::part_end) {
    EXPECT_FALSE(form.parts.back().ended);
    EXPECT_EQ(decoder.part().name, form.parts.back().name) << "it is valid until the next one begins";
    form.parts.back().ended = true;
  }
}

// Feeds the pieces that end at each of `ends`, each from a different place in memory.
decoded_form feed_form(std::string_view bytes, const std::vector<std::size_t>& ends,
                       const http::multipart_limits& limits, std::string_view boundary) {
  http::multipart_decoder decoder(boundary, limits);
  decoded_form form;
  std::size_t begin = 0;
  for (const std::size_t& end : ends) {
    const std::string input(bytes.substr(begin, end - begin));
    const bool last = &end == &ends.back();
    std::string_view rest = input;
    do {
      const auto step = decoder.next(rest, last);
      rest.remove_prefix(step.consumed);
      take_step(decoder, step, form);
      if (form.what == form_state::failed) return form;
    } while (form.what != form_state::more && form.what != form_state::complete);
    EXPECT_TRUE(rest.empty()) << "bytes were left alone";
    begin = end;
  }
  return form;
}

decoded_form decode_form(std::string_view bytes, const http::multipart_limits& limits = {},
                         std::string_view boundary = "AaB03x") {
  const decoded_form whole = feed_form(bytes, {bytes.size()}, limits, boundary);
  for (std::size_t piece = 1; piece < bytes.size() && piece < 200; ++piece) {
    std::vector<std::size_t> ends;
    for (std::size_t end = piece; end < bytes.size(); end += piece) ends.push_back(end);
    ends.push_back(bytes.size());
    EXPECT_EQ(feed_form(bytes, ends, limits, boundary), whole) << "in pieces of " << piece;
  }
  for (std::size_t split = 0; split <= bytes.size(); ++split)
    EXPECT_EQ(feed_form(bytes, {split, bytes.size()}, limits, boundary), whole) << "split at " << split;
  return whole;
}
multipart_error error_of_form(std::string_view bytes, const http::multipart_limits& limits = {}) {
  return decode_form(bytes, limits).error;
}

// A form with one part that has these fields, or this data.
std::string with_fields(std::string_view fields) {
  return "--AaB03x\r\n" + std::string(fields) + "\r\n\r\nx\r\n--AaB03x--\r\n";
}
decoded_form disposition(std::string_view value) {
  return decode_form(with_fields("Content-Disposition: " + std::string(value)));
}
std::string with_data(std::string_view data) {
  return "--AaB03x\r\nContent-Disposition: form-data; name=a\r\n\r\n" + std::string(data) + "\r\n--AaB03x--\r\n";
}
std::string data_of(std::string_view data) {
  const decoded_form form = decode_form(with_data(data));
  EXPECT_EQ(form.what, form_state::complete) << form;
  return form.parts.size() == 1 ? form.parts[0].data : "no part";
}

}  // namespace

TEST(multipart_decoder, a_form_of_a_browser_is_taken_apart) {
  const decoded_form form = decode_form(
      "--AaB03x\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\nhello\r\nyou\r\n"
      "--AaB03x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a b.txt\"\r\nContent-Type: "
      "text/html\r\n\r\n"
      "<p>\r\n--AaB03x--\r\n");
  EXPECT_EQ(form.what, form_state::complete);
  EXPECT_EQ(form.parts, (std::vector<decoded_part>{{"text", "-", "", "hello\r\nyou", true},
                                                   {"file", "a b.txt", "text/html", "<p>", true}}));
}

TEST(multipart_decoder, parts_can_be_empty_and_so_can_forms) {
  EXPECT_EQ(data_of(""), "");
  const decoded_form bare = decode_form("--AaB03x\r\nContent-Disposition: form-data; name=a\r\n\r\n--AaB03x--");
  EXPECT_EQ(bare.parts,
            (std::vector<decoded_part>{{"a", "-", "", "", true}}));  // one line end for header and delimiter
  EXPECT_EQ(decode_form("--AaB03x--\r\n").what, form_state::complete);
  EXPECT_EQ(disposition("form-data; name=\"\"; filename=\"\"").parts[0].file_name, "");
}

TEST(multipart_decoder, data_that_looks_like_a_delimiter_is_data) {
  for (const char* data : {"\r", "\n", "\r\n", "\r\n-", "\r\n--", "\r\n--A", "\r\n--AaB03", "\r\n--AaB03y",
                           "\r\r\n--AaB03\r\n--AaB03", "-AaB03x", "--AaB03x", "--AaB03x--", "\n--AaB03x",
                           "\r\n--\r\n--AaB", "\r\n\r\n\r\n", "\r\n-\r\n--aab03x", "x\r\n --AaB03x"}) {
    if (std::string_view(data).starts_with("--AaB03x")) continue;  // at the very beginning it is a delimiter
    EXPECT_EQ(data_of(data), data);
    EXPECT_EQ(data_of(std::string(100, 'x') + data), std::string(100, 'x') + data);
    EXPECT_EQ(data_of(data + std::string(100, '\r')), data + std::string(100, '\r'));
  }
  EXPECT_EQ(data_of("x--AaB03x--"), "x--AaB03x--");
}

TEST(multipart_decoder, data_of_every_length_comes_back) {
  for (std::size_t size = 0; size < 60; ++size) EXPECT_EQ(data_of(std::string(size, '\0')), std::string(size, '\0'));
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  EXPECT_EQ(data_of(every), every);
}

TEST(multipart_decoder, preamble_padding_and_epilogue_mean_nothing) {
  const std::string part = "Content-Disposition: form-data; name=a\r\n\r\nx";
  EXPECT_EQ(decode_form("\r\n--AaB03x\r\n" + part + "\r\n--AaB03x--").parts.size(), 1U);
  EXPECT_EQ(decode_form("This is\r\n--Aa\r\n--AaB03x\r\n" + part + "\r\n--AaB03x--").parts.size(), 1U);
  EXPECT_EQ(decode_form("--AaB03x \t\r\n" + part + "\r\n--AaB03x-- \r\n").parts.size(), 1U);
  const decoded_form form = decode_form("--AaB03x\r\n" + part + "\r\n--AaB03x--\r\nend\r\n--AaB03x\r\n" + part);
  EXPECT_EQ(form.what, form_state::complete);
  EXPECT_EQ(form.parts.size(), 1U);
}

TEST(multipart_decoder, names_are_unquoted_and_decoded) {
  EXPECT_EQ(disposition("form-data; name=\"a%22b%0D%0Ac%41\"").parts[0].name, "a\"b\r\nc%41");
  EXPECT_EQ(disposition(R"(form-data; name="a\"b\\c\d")").parts[0].name, R"(a"b\c\d)");
  EXPECT_EQ(disposition(R"(form-data; name=a; filename="C:\x\y.txt")").parts[0].file_name, R"(C:\x\y.txt)");
  EXPECT_EQ(disposition("FORM-DATA ;NAME=a ; ;filename=\"; name=b\";").parts[0].file_name, "; name=b");
  EXPECT_EQ(disposition("form-data; name=\"\xc3\xa4\"; filename*=utf-8''x").parts[0].name, "\xc3\xa4");
  EXPECT_EQ(disposition("form-data; name=a; filename*=utf-8''x").parts[0].file_name, "-");
}

TEST(multipart_decoder, a_disposition_is_there_once_and_has_a_name) {
  for (const char* bad :
       {"", "form-data", "attachment; name=a", "form-data; filename=a", "form-data; name", "form-data; name=",
        "form-data; name=\"a", "form-data; name=\"a\\\"", "form-data; name=a; name=b", "form-data; name = a",
        "form-data; name=a; filename=b; FileName=c", "form-data; name=a b", "form-data; name=\"a\"b",
        "form-data name=a", "form-data, form-data; name=a", "form-data; =a", "form-data; name=a; filename=\xc3\xa4"})
    EXPECT_EQ(disposition(bad).error, multipart_error::bad_disposition) << bad;
  EXPECT_EQ(
      error_of_form(with_fields("Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=a")),
      multipart_error::bad_disposition);
  EXPECT_EQ(error_of_form(with_fields("Content-Type: text/plain")), multipart_error::bad_disposition);
  EXPECT_EQ(error_of_form("--AaB03x\r\n\r\nx\r\n--AaB03x--"), multipart_error::bad_disposition);
}

TEST(multipart_decoder, fields_are_strict) {
  const std::string named = "Content-Disposition: form-data; name=a";
  for (const char* bad : {"\r\nx", "\r\n folded", "\r\nA : b", "\r\nA: b\x01", "\nA: b", "\r\nA: b\rc", "\r\n: b"})
    EXPECT_EQ(error_of_form(with_fields(named + bad)), multipart_error::bad_header) << bad;
  EXPECT_EQ(error_of_form(with_fields(named + "\r\nContent-Type: a/b\r\ncontent-type: a/b")),
            multipart_error::bad_content_type);
  EXPECT_EQ(error_of_form(with_fields(named + "\r\nContent-Type:\r\ncontent-type: a/b")),
            multipart_error::bad_content_type);
  EXPECT_EQ(error_of_form(with_fields(named + "\r\nContent-Transfer-Encoding: base64")),
            multipart_error::unknown_encoding);
  EXPECT_EQ(error_of_form(with_fields(named + "\r\nContent-Transfer-Encoding: Binary")), multipart_error::none);
  EXPECT_EQ(error_of_form(with_fields(named + "\r\nX-Other: b")), multipart_error::none);
}

TEST(multipart_decoder, a_delimiter_is_not_taken_for_a_field) {
  const std::string bytes = "--a:b\r\nContent-Disposition: form-data; name=a\r\n--a:b\r\n\r\nx\r\n--a:b--";
  EXPECT_EQ(decode_form(bytes, {}, "a:b").error, multipart_error::bad_header);
}

TEST(multipart_decoder, nothing_but_white_space_stands_behind_a_delimiter) {
  for (const char* bad : {"x", "-", "-x", "--x", "---", " -- ", "\n", "\rx\n", "--\n"}) {
    EXPECT_EQ(error_of_form(with_data("x\r\n--AaB03x" + std::string(bad))), multipart_error::bad_delimiter) << bad;
    EXPECT_EQ(error_of_form("--AaB03x" + std::string(bad) + "\r\n"), multipart_error::bad_delimiter) << bad;
  }
  EXPECT_EQ(error_of_form("--AaB03x" + std::string(1000, ' ')), multipart_error::bad_delimiter);
}

TEST(multipart_decoder, a_part_ends_only_at_a_delimiter_that_is_valid) {
  const auto cut = decode_form(with_data("one\r\n--AaB03xRidge\r\ntwo"));
  ASSERT_EQ(cut.parts.size(), 1);
  EXPECT_FALSE(cut.parts[0].ended);
  for (const char* end : {"", " ", "\r\n"}) {
    const std::string whole = with_data("one");
    const auto form = decode_form(whole.substr(0, whole.size() - 2) + end);
    ASSERT_EQ(form.parts.size(), 1);
    EXPECT_TRUE(form.parts[0].ended);
  }
}

TEST(multipart_decoder, a_form_without_its_end_is_refused) {
  const std::string bytes = with_data("x");
  for (std::size_t size = 0; size + 2 < bytes.size(); ++size)
    EXPECT_EQ(error_of_form(bytes.substr(0, size)), multipart_error::missing_end) << size;
  EXPECT_EQ(error_of_form(bytes.substr(0, bytes.size() - 2)), multipart_error::none);
  EXPECT_EQ(error_of_form(bytes.substr(0, bytes.size() - 1)), multipart_error::missing_end);
  EXPECT_EQ(error_of_form(""), multipart_error::missing_end);
  http::multipart_decoder decoder("AaB03x");
  EXPECT_EQ(decoder.next("", false).what, form_state::more);
}

TEST(multipart_decoder, parts_and_their_fields_have_limits) {
  http::multipart_limits limits;
  limits.header = 60;
  limits.parts = 2;
  limits.preamble = 10;
  const std::string named = "Content-Disposition: form-data; name=a";  // 42 bytes with its line ends
  EXPECT_EQ(error_of_form(with_fields(named + "\r\nA: " + std::string(13, 'x')), limits), multipart_error::none);
  EXPECT_EQ(error_of_form(with_fields(named + "\r\nA: " + std::string(14, 'x')), limits),
            multipart_error::header_too_large);
  EXPECT_EQ(error_of_form("--AaB03x\r\n" + std::string(500, 'x'), limits), multipart_error::header_too_large);
  const std::string part = "--AaB03x\r\n" + named + "\r\n\r\nx\r\n";
  EXPECT_EQ(error_of_form(part + part + "--AaB03x--", limits), multipart_error::none);
  EXPECT_EQ(error_of_form(part + part + part + "--AaB03x--", limits), multipart_error::too_many_parts);
  EXPECT_EQ(error_of_form("0123456789\r\n" + part + "--AaB03x--", limits), multipart_error::none);
  EXPECT_EQ(error_of_form("0123456789x\r\n" + part + "--AaB03x--", limits), multipart_error::preamble_too_large);
  EXPECT_EQ(error_of_form(std::string(100, '\r'), limits), multipart_error::preamble_too_large);
}

TEST(multipart_decoder, boundaries_are_judged) {
  for (const std::string& bad :
       {std::string(), std::string(71, 'a'), std::string("a "), std::string("a\r\n"), std::string("a\"b"),
        std::string("a;b"), std::string("\xc3\xa4"), std::string(1, '\0')}) {
    http::multipart_decoder decoder(bad);
    EXPECT_EQ(decoder.next("--" + bad, false).what, form_state::failed) << bad;
    EXPECT_EQ(decoder.error(), multipart_error::bad_boundary);
    decoder.reset();
    EXPECT_EQ(decoder.error(), multipart_error::bad_boundary);
  }
  const std::string longest(70, 'a');
  EXPECT_EQ(decode_form("--" + longest + "--", {}, longest).what, form_state::complete);
  EXPECT_EQ(decode_form("--x--", {}, "x").what, form_state::complete);
}

TEST(multipart_decoder, data_lies_in_the_input) {
  const std::string input = with_data(std::string(100, 'x') + "\r\n" + std::string(100, 'y'));
  http::multipart_decoder decoder("AaB03x");
  auto step = decoder.next(input, true);
  EXPECT_EQ(step.what, form_state::part_begin);
  const std::string_view rest = std::string_view(input).substr(step.consumed);
  step = decoder.next(rest, true);
  EXPECT_EQ(step.what, form_state::data);
  EXPECT_EQ(step.data.data(), rest.data());
  EXPECT_EQ(step.data.size(), 202U);
}

TEST(multipart_decoder, it_can_be_used_again) {
  http::multipart_decoder decoder("AaB03x");
  EXPECT_EQ(decoder.next("--AaB03xyz\r\n", false).what, form_state::failed);
  EXPECT_EQ(decoder.next("--AaB03x--", true).what, form_state::failed);
  decoder.reset();
  EXPECT_EQ(decoder.next("--AaB03x--", true).what, form_state::complete);
  EXPECT_EQ(http::status_for(multipart_error::too_many_parts), 413);
  EXPECT_EQ(http::status_for(multipart_error::missing_end), 400);
}
