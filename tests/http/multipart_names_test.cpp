// tests/http/multipart_names_test.cpp: the boundary in a Content-Type, and file names that are safe to write to.
#include <gyre/http/multipart_decoder.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace http = gyre::http;

TEST(multipart_names, the_boundary_is_a_parameter_of_the_type) {
  EXPECT_EQ(http::multipart_boundary("multipart/form-data; boundary=----WebKitFormBoundary7MA4"),
            "----WebKitFormBoundary7MA4");
  EXPECT_EQ(http::multipart_boundary("Multipart/Form-Data;charset=utf-8 ; BOUNDARY=\"a b:c\""), "a b:c");
  for (const char* bad :
       {"", "multipart/form-data", "multipart/mixed; boundary=a", "multipart/form-data; boundary=", "text/plain",
        "multipart/form-data; boundary=a; boundary=a", "multipart/form-data; boundary=a b",
        "multipart/form-data boundary=a", "multipart/form-data; boundary=\"a", "multipart/form-data; boundary=\"a \"",
        "multipart/form-data; boundary=a, b"})
    EXPECT_EQ(http::multipart_boundary(bad), std::nullopt) << bad;
}

TEST(multipart_names, a_boundary_holds_letters_digits_and_few_marks) {
  const auto boundary = [](const std::string& text) {
    return http::multipart_boundary("multipart/form-data; boundary=\"" + text + '"');
  };
  EXPECT_EQ(boundary("azAZ09'()+_,-./:=? x"), "azAZ09'()+_,-./:=? x");
  for (const char* bad : {"{", "}", "`", "[", "~"}) EXPECT_EQ(boundary(bad), std::nullopt) << bad;
}

TEST(multipart_names, names_of_files_become_harmless) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a.txt", "a.txt"},
      {"/etc/passwd", "passwd"},
      {R"(C:\x\y.txt)", "y.txt"},
      {"../../x", "x"},
      {R"(..\/..)", "unnamed"},
      {"..", "unnamed"},
      {"", "unnamed"},
      {"a/", "unnamed"},
      {".htaccess", "htaccess"},
      {". .x", "x"},
      {".\x01.\x7f./", "unnamed"},
      {std::string("\0.a\0b\r\n", 6), "ab"},
      {"x/.\x01.", "unnamed"},
      {"\xc3\xa4.txt", "\xc3\xa4.txt"},
      {std::string(300, 'a'), std::string(255, 'a')},
      {std::string(254, 'a') + "\xc3\xa4", std::string(254, 'a')},
      {std::string(252, 'a') + "\xf0\x9f\x98\x80", std::string(252, 'a')},
      {std::string(300, '\xbf'), std::string(255, '\xbf')},
  };
  for (const auto& [sent, harmless] : cases) EXPECT_EQ(http::harmless_file_name(sent), harmless) << sent;
}

TEST(multipart_names, a_file_name_holds_no_character_that_hides_or_reorders_text) {
  for (const std::string hidden :
       {"\xc2\x80",         "\xc2\x9b",     "\xc2\x9f",     "\xc2\xad",     "\xd8\x9c",     "\xe1\xa0\x8e",
        "\xe2\x80\x8b",     "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaa",
        "\xe2\x80\xae",     "\xe2\x81\xa0", "\xe2\x81\xa6", "\xe2\x81\xa9", "\xef\xbb\xbf", "\xef\xbf\xb9",
        "\xf3\xa0\x81\x81", "\x80",         "\x9b"})
    EXPECT_EQ(http::harmless_file_name("photo" + hidden + "gpj.exe"), "photo_gpj.exe");
}

TEST(multipart_names, nothing_that_is_taken_out_of_a_file_name_makes_what_is_around_it_hidden) {
  EXPECT_EQ(http::harmless_file_name("a\xef\xe2\x80\xae\xbb\xbf"), "a\xef_\xbb\xbf");
  EXPECT_EQ(http::harmless_file_name("a\xe2\x01\x80\xae"), "a_");
  EXPECT_EQ(http::harmless_file_name("a\xc2\x7f\x9b"), "a_");
}

TEST(multipart_names, letters_of_every_script_and_joiners_stay_in_a_file_name) {
  for (const std::string name : {"\xc3\xa4.txt", "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae.txt", "\xe6\x97\xa5.txt",
                                 "\xc2\xa0.txt", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac.png", "\xe4.txt"})
    EXPECT_EQ(http::harmless_file_name(name), name);
}
