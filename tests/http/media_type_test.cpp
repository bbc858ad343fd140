// tests/http/media_type_test.cpp: media types of files, and Content-Type.
#include <gyre/http/media_type.hpp>

#include <gtest/gtest.h>

#include <string>

namespace http = gyre::http;

TEST(media_type_of, common_extensions_are_known) {
  EXPECT_EQ(http::media_type_of("index.html"), "text/html; charset=utf-8");
  EXPECT_EQ(http::media_type_of("a.txt"), "text/plain; charset=utf-8");
  EXPECT_EQ(http::media_type_of("a.css"), "text/css; charset=utf-8");
  EXPECT_EQ(http::media_type_of("a.js"), "text/javascript; charset=utf-8");
  EXPECT_EQ(http::media_type_of("a.mjs"), "text/javascript; charset=utf-8");
  EXPECT_EQ(http::media_type_of("README.md"), "text/markdown; charset=utf-8");
  EXPECT_EQ(http::media_type_of("a.json"), "application/json");
  EXPECT_EQ(http::media_type_of("a.wasm"), "application/wasm");
  EXPECT_EQ(http::media_type_of("a.svg"), "image/svg+xml");
  EXPECT_EQ(http::media_type_of("a.webp"), "image/webp");
  EXPECT_EQ(http::media_type_of("a.avif"), "image/avif");
  EXPECT_EQ(http::media_type_of("a.mp4"), "video/mp4");
  EXPECT_EQ(http::media_type_of("a.webm"), "video/webm");
  EXPECT_EQ(http::media_type_of("a.woff2"), "font/woff2");
  EXPECT_EQ(http::media_type_of("a.webmanifest"), "application/manifest+json");
  EXPECT_EQ(http::media_type_of("a.7z"), "application/x-7z-compressed") << "the first of the table";
  EXPECT_EQ(http::media_type_of("a.zst"), "application/zstd") << "the last of the table";
}

TEST(media_type_of, the_case_of_an_extension_does_not_matter) {
  EXPECT_EQ(http::media_type_of("A.HTML"), "text/html; charset=utf-8");
  EXPECT_EQ(http::media_type_of("a.WebManifest"), "application/manifest+json");
}

TEST(media_type_of, the_last_extension_of_the_last_segment_counts) {
  EXPECT_EQ(http::media_type_of("/var/www/a.b/c.tar.gz"), "application/gzip");
  EXPECT_EQ(http::media_type_of("a/b.c/.x.png"), "image/png");
  EXPECT_EQ(http::media_type_of("/a.html/b"), "application/octet-stream");
}

TEST(media_type_of, anything_else_is_bytes) {
  for (const char* name : {"", "/", ".", "..", "a", "a.", ".html", "/a/.png", "html", "a.html/",
                           "a.unheard-of-extension", "a.htm1", "a.html ", "a.webmanifestt", "a.\xc3\xa9"})
    EXPECT_EQ(http::media_type_of(name), "application/octet-stream") << name;
}

TEST(is_compressible, text_and_its_like_are) {
  for (const char* type :
       {"text/html", "text/html; charset=utf-8", "TEXT/PLAIN", "application/json", "image/svg+xml",
        "application/Problem+JSON;a=b", "application/wasm", "application/xml", "font/ttf", "image/bmp"})
    EXPECT_TRUE(http::is_compressible(type)) << type;
}

TEST(is_compressible, a_type_that_is_compressed_already_is_not) {
  for (const char* type :
       {"image/png", "image/jpeg", "video/mp4", "font/woff2", "application/zip", "application/gzip",
        "application/octet-stream", "", "text", "text/", "+json", "a/+jso", "application/json/x", "/"})
    EXPECT_FALSE(http::is_compressible(type)) << type;
}

TEST(is_compressible, types_that_are_written_in_a_language_of_text_are) {
  for (const char* type : {"application/x+json", "image/svg+xml", "application/openapi+yaml", "application/x+YAML"})
    EXPECT_TRUE(http::is_compressible(type)) << type;
  EXPECT_FALSE(http::is_compressible("+yaml"));
}

TEST(essence_of, parameters_are_left_out) {
  EXPECT_EQ(http::essence_of("text/html; charset=utf-8"), "text/html");
  EXPECT_EQ(http::essence_of(" text/html ;charset=utf-8"), "text/html");
  EXPECT_EQ(http::essence_of("text/html"), "text/html");
  EXPECT_EQ(http::essence_of("*/*;q=0.5"), "*/*");
  for (const char* bad :
       {"", "text", "/html", "text/", "text /html", "text/ html", "a/b/c", "text/html charset=utf-8", "a,b/c", ";a=b"})
    EXPECT_EQ(http::essence_of(bad), "") << bad;
}

TEST(find_parameter, tokens_and_quoted_strings_are_understood) {
  EXPECT_EQ(http::find_parameter("text/html;charset=utf-8", "charset"), "utf-8");
  EXPECT_EQ(http::find_parameter("Text/HTML;Charset=\"utf-8\"", "charset"), "utf-8");
  EXPECT_EQ(http::find_parameter("text/html; charset=\"utf-8\"", "CHARSET"), "utf-8");
  EXPECT_EQ(http::find_parameter("multipart/form-data; boundary=AaB03x", "boundary"), "AaB03x");
  EXPECT_EQ(http::find_parameter("a/b; c=d; boundary=\"e f; charset=g\"; h=i", "boundary"), "e f; charset=g");
  EXPECT_EQ(http::find_parameter("a/b; c=\"a\\\"b\\\\c\\d\"", "c"), "a\"b\\cd");
  EXPECT_EQ(http::find_parameter("a/b; c=\"\"", "c"), "");
  EXPECT_EQ(http::find_parameter("a/b;; ; c=d ;", "c"), "d");
  EXPECT_EQ(http::find_parameter("form-data; name=\"a\"; filename=\"b;c.txt\"", "filename"), "b;c.txt");
}

TEST(find_parameter, a_parameter_that_is_missing_or_inside_another_is_not_found) {
  EXPECT_EQ(http::find_parameter("text/html", "charset"), std::nullopt);
  EXPECT_EQ(http::find_parameter("", "charset"), std::nullopt);
  EXPECT_EQ(http::find_parameter("a/b; c=\"; charset=d\"", "charset"), std::nullopt);
  EXPECT_EQ(http::find_parameter("a/b; xcharset=d", "charset"), std::nullopt);
  EXPECT_EQ(http::find_parameter("charset=d", "charset"), std::nullopt);
}

TEST(find_parameter, an_ambiguous_parameter_is_not_found) {
  EXPECT_EQ(http::find_parameter("a/b; boundary=c; boundary=d", "boundary"), std::nullopt);
  EXPECT_EQ(http::find_parameter("a/b; boundary=c; Boundary=c", "boundary"), std::nullopt);
  for (const char* bad : {"a/b; c=d; e", "a/b; c=d; =e", "a/b; c=d e", "a/b; c=d; e=", "a/b; c =d", "a/b; c= d",
                          "a/b; c=\"d", "a/b; c=\"d\\", "a/b; c=\"d\\\"", "a/b; c=\"d\"e", "a/b; c=d\"",
                          "a/b; c=\"\x01\"", "a/b; c=\"\\\x7f\"", "a/b; c=d,", "a/b; c=d; e=f;g h=i"})
    EXPECT_EQ(http::find_parameter(bad, "c"), std::nullopt) << bad;
}
