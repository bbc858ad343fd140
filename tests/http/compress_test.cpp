// tests/http/compress_test.cpp: compressed bodies decompress to the original, and other responses stay uncompressed.
#include <gyre/http/compress.hpp>

#include <gyre/http/router.hpp>

#include "decoding.hpp"
#include "tests/http/compressible_text.hpp"
#include "tests/http/http_client.hpp"
#include "tests/http/owned_fields.hpp"

#include <gtest/gtest.h>

using namespace gyre_test;
using gyre::task;

namespace {

task<> write_book(http::body_writer& out) {
  for (std::size_t at = 0; at < book.size(); at += 777) co_await out.write(std::string_view(book).substr(at, 777));
}
task<> write_book_at_once(http::body_writer& out) { co_await out.write(book); }

http::response with_header(http::response made, std::string_view name, std::string_view value) {
  made.add_field(name, value);
  return made;
}

http::router compressed_routes(http::compress_options options = {}) {
  http::router routes;
  routes.use(http::compress(std::move(options)));
  const auto add = [&routes](std::string_view pattern, auto make) {
    routes.get(pattern, [make](http::request&) -> http::response { return make(); });
  };
  add("/page", [] { return http::response::text(page); });
  add("/book", [] { return http::response::text(book); });
  add("/borrowed", [] { return http::response::borrowed(page, "text/css"); });
  add("/streamed", [] { return http::response::stream(write_book, "text/plain"); });
  add("/at-once", [] { return http::response::stream(write_book_at_once, "text/plain"); });
  add("/announced", [] {
    http::response made = http::response::stream(write_book, "text/plain");
    made.set_length(book.size());
    return made;
  });
  add("/short", [] {
    http::response made = http::response::stream(write_book, "text/plain");
    made.set_length(book.size() + 1);
    return made;
  });
  add("/small", [] { return http::response::text(page.substr(0, 1023)); });
  add("/noise", [] { return http::response::bytes(make_noise(5000), "text/plain"); });
  add("/picture", [] { return http::response::bytes(std::string(page), "image/jpeg"); });
  add("/encoded", [] { return with_header(http::response::text(page), "Content-Encoding", "identity"); });
  add("/fixed", [] { return with_header(http::response::text(page), "cache-control", "max-age=1, No-Transform"); });
  add("/part",
      [] { return http::response::text(page).set_status(206).add_field("Content-Range", "bytes 0-9999/20000"); });
  add("/parts", [] { return http::response::bytes("--b", "multipart/byteranges; boundary=b").set_status(206); });
  add("/part-of-picture", [] { return http::response::bytes(std::string(page), "image/jpeg").set_status(206); });
  add("/fixed-part",
      [] { return with_header(http::response::text(page).set_status(206), "Cache-Control", "no-transform"); });
  add("/fixed-unchanged", [] { return with_header(http::response(304), "Cache-Control", "no-transform"); });
  add("/digest", [] { return with_header(http::response::text(page), "Repr-Digest", "sha-256=:x:"); });
  add("/tagged",
      [] { return with_header(with_header(http::response::text(page), "ETag", "\"v1\""), "Accept-Ranges", "bytes"); });
  add("/unchanged", [] { return with_header(http::response(304), "ETag", "\"v1\""); });
  add("/empty", [] { return http::response::no_content(); });
  add("/varied", [] { return with_header(http::response::text(page), "Vary", "accept-encoding"); });
  return routes;
}

task<http_answer> ask(http_test_client& app, std::string method, std::string target, std::string codings,
                      std::string known = {}) {
  owned_fields fields;
  if (!codings.empty()) fields.emplace_back("Accept-Encoding", std::move(codings));
  if (!known.empty()) fields.emplace_back("If-None-Match", std::move(known));
  co_return co_await app.request(std::move(method), std::move(target), std::move(fields), "");
}
task<http_answer> get_coded_as(http_test_client& app, std::string target, std::string codings) {
  co_return co_await ask(app, "GET", std::move(target), std::move(codings));
}

}  // namespace

TEST(compress, every_coding_gives_the_same_back) {
  run_virtual([]() -> task<> {
    http_test_client app(compressed_routes());
    for (const std::string_view coding : http::available_codings()) {
      for (const auto& [target, expected] : {std::pair{"/page", &page},
                                             {"/book", &book},
                                             {"/borrowed", &page},
                                             {"/streamed", &book},
                                             {"/at-once", &book},
                                             {"/announced", &book}}) {
        const auto answer = co_await get_coded_as(app, target, std::string(coding));
        EXPECT_EQ(answer.status, 200);
        EXPECT_EQ(answer.field("Content-Encoding"), coding) << target;
        EXPECT_EQ(answer.field("Vary"), "Accept-Encoding") << target;
        EXPECT_LT(answer.body.size(), expected->size() / 3) << target;
        const auto plain = decode(coding, answer.body);
        EXPECT_TRUE(plain.ended && !plain.failed) << coding << target;
        EXPECT_EQ(plain.text, *expected) << coding << target;
      }
    }
  });
}

TEST(compress, a_client_that_takes_none_gets_none) {
  run_virtual([]() -> task<> {
    http_test_client app(compressed_routes());
    for (const char* codings :
         {"", "identity", "compress", "gzip;q=0, br;q=0, zstd;q=0", "identity;q=1, gzip;q=0.5", "*;q=0"}) {
      const auto answer = co_await get_coded_as(app, "/page", codings);
      EXPECT_EQ(answer.status, 200) << codings;
      EXPECT_EQ(answer.field("Content-Encoding"), "") << codings;
      EXPECT_EQ(answer.body, page) << codings;
      EXPECT_EQ(answer.field("Vary"), "Accept-Encoding") << codings;
    }
  });
}

TEST(compress, the_preferred_coding_is_taken_unless_the_client_prefers_another) {
  if (http::available_codings().size() < 3) GTEST_SKIP() << "this build does not have all codings";
  run_virtual([]() -> task<> {
    http_test_client app(compressed_routes());
    EXPECT_EQ((co_await get_coded_as(app, "/page", "gzip, deflate, br, zstd")).field("Content-Encoding"), "zstd");
    EXPECT_EQ((co_await get_coded_as(app, "/page", "gzip, br")).field("Content-Encoding"), "br");
    EXPECT_EQ((co_await get_coded_as(app, "/page", "br;q=0.5, gzip")).field("Content-Encoding"), "gzip");
    http_test_client other(compressed_routes({.codings = {"gzip", "zstd"}}));
    EXPECT_EQ((co_await get_coded_as(other, "/page", "br, zstd, gzip")).field("Content-Encoding"), "gzip");
  });
}

TEST(compress, responses_that_must_not_change_are_not_compressed) {
  run_virtual([]() -> task<> {
    http_test_client app(compressed_routes());
    for (const char* target : {"/small", "/picture", "/fixed", "/digest", "/empty", "/nowhere"}) {
      const auto answer = co_await get_coded_as(app, target, "gzip, br, zstd");
      EXPECT_EQ(answer.field("Content-Encoding"), "") << target;
      EXPECT_EQ(answer.field("Vary"), "") << target;
    }
    const auto encoded = co_await get_coded_as(app, "/encoded", "gzip, br, zstd");
    EXPECT_EQ(encoded.field("Content-Encoding"), "identity");
    EXPECT_EQ(encoded.body, page);
    const auto noise = co_await get_coded_as(app, "/noise", "gzip, br, zstd");
    EXPECT_EQ(noise.field("Content-Encoding"), "") << "it does not become smaller";
    EXPECT_EQ(noise.body.size(), 5000u);
    EXPECT_EQ(noise.field("Vary"), "Accept-Encoding");
  });
}

TEST(compress, a_part_and_word_that_nothing_has_changed_vary_as_the_whole_does) {
  run_virtual([]() -> task<> {
    http_test_client app(compressed_routes());
    for (const auto& [target, vary] : {std::pair{"/part", "Accept-Encoding"},
                                       {"/parts", "Accept-Encoding"},
                                       {"/unchanged", "Accept-Encoding"},
                                       {"/part-of-picture", ""},
                                       {"/fixed-part", ""},
                                       {"/fixed-unchanged", ""}}) {
      for (const char* codings : {"", "gzip, br, zstd"}) {
        const auto answer = co_await get_coded_as(app, target, codings);
        EXPECT_EQ(answer.field("Vary"), vary) << target;
        EXPECT_EQ(answer.field("Content-Encoding"), "") << target;
      }
    }
  });
}

TEST(compress, head_says_what_get_would) {
  run_virtual([]() -> task<> {
    http_test_client app(compressed_routes());
    for (const char* target : {"/page", "/book", "/streamed", "/announced", "/small", "/tagged"}) {
      auto got = co_await get_coded_as(app, target, "gzip");
      auto head = co_await ask(app, "HEAD", target, "gzip");
      EXPECT_EQ(head.body, "");
      for (owned_fields* const each : {&got.fields, &head.fields})
        std::erase_if(*each,
                      [](const auto& field) { return field.first == "Date"; });  // a second may pass between the two
      EXPECT_EQ(head.fields, got.fields) << target;
    }
  });
}

TEST(compress, a_strong_tag_becomes_weak_and_ranges_are_no_longer_offered) {
  run_virtual([]() -> task<> {
    http_test_client app(compressed_routes());
    const auto answer = co_await get_coded_as(app, "/tagged", "gzip, br, zstd");
    EXPECT_EQ(answer.field("ETag"), "W/\"v1\"");
    EXPECT_EQ(answer.field("Accept-Ranges"), "");
    const auto plain = co_await get_coded_as(app, "/tagged", "");
    EXPECT_EQ(plain.field("ETag"), "\"v1\"");
    EXPECT_EQ(plain.field("Accept-Ranges"), "bytes");
    EXPECT_EQ((co_await ask(app, "GET", "/unchanged", "gzip", "W/\"v1\"")).field("ETag"), "W/\"v1\"");
    EXPECT_EQ((co_await ask(app, "GET", "/unchanged", "gzip", "\"v1\"")).field("ETag"), "\"v1\"");
  });
}

TEST(compress, vary_names_the_accepted_coding_once) {
  run_virtual([]() -> task<> {
    http_test_client app(compressed_routes());
    const auto answer = co_await get_coded_as(app, "/varied", "gzip, br, zstd");
    int count = 0;
    for (const auto& [name, value] : answer.fields) count += name == "Vary";
    EXPECT_EQ(count, 1);
  });
}

TEST(compress, a_body_shorter_than_announced_is_cut_off) {
  run_virtual([]() -> task<> {
    http_test_client app(compressed_routes());
    const auto silent = [](const gyre::background_failure&, void*) noexcept {};
    gyre::event_loop::current().set_exception_handler(silent, nullptr);
    const std::string bytes = co_await app.exchange_bytes(
        "GET /short HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip, br, zstd\r\nConnection: close\r\n\r\n", false);
    EXPECT_TRUE(bytes.starts_with("HTTP/1.1 200 "));
    EXPECT_FALSE(bytes.ends_with("\r\n0\r\n\r\n")) << "the end of the chunks says that all of it has come";
  });
}

TEST(compress, a_coding_that_there_is_not_is_refused) {
  EXPECT_THROW((void)http::compress({.codings = {"deflate"}}), std::invalid_argument);
}
