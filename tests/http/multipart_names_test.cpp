// tests/http/multipart_names_test.cpp: the boundary in a Content-Type, and names of files that can be written to.
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
      {std::string(300, '\x80'), std::string(255, '\x80')},
  };
  for (const auto& [sent, harmless] : cases) EXPECT_EQ(http::harmless_file_name(sent), harmless) << sent;
}
