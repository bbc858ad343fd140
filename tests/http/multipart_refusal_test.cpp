// tests/http/multipart_refusal_test.cpp: the response to a client whose form is refused.
#include <gyre/http/multipart_decoder.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace http = gyre::http;
using http::multipart_error;

namespace {

constexpr multipart_error errors[] = {multipart_error::bad_boundary,     multipart_error::preamble_too_large,
                                      multipart_error::bad_delimiter,    multipart_error::bad_header,
                                      multipart_error::bad_disposition,  multipart_error::bad_content_type,
                                      multipart_error::unknown_encoding, multipart_error::header_too_large,
                                      multipart_error::too_many_parts,   multipart_error::missing_end};

}  // namespace

TEST(multipart_refusal, every_error_has_a_sentence_of_its_own) {
  std::set<std::string_view> sentences{http::describe(multipart_error::none), "unknown", ""};
  for (const multipart_error each : errors) EXPECT_TRUE(sentences.insert(http::describe(each)).second);
}

TEST(multipart_refusal, an_excess_is_413_an_unknown_type_415_and_every_other_error_400) {
  for (const multipart_error each : errors) {
    const bool too_much = each == multipart_error::preamble_too_large || each == multipart_error::header_too_large ||
                          each == multipart_error::too_many_parts;
    const int expected = too_much ? 413 : each == multipart_error::unknown_encoding ? 415 : 400;
    EXPECT_EQ(http::status_for(each), expected) << http::describe(each);
  }
}
