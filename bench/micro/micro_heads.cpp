// bench/micro/micro_heads.cpp: parses the heads of requests. Aim: 2 bytes a nanosecond for those that browsers send.
#include <gyre/http.hpp>

#include "bench/micro/timing.hpp"

#include <string>
#include <string_view>

namespace {

constexpr std::string_view small = "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";

constexpr std::string_view browser =
    "GET /articles/2026/11/coroutines-in-practice.html?utm_source=front HTTP/1.1\r\n"
    "Host: www.example.com\r\n"
    "Connection: keep-alive\r\n"
    "sec-ch-ua: \"Chromium\";v=\"142\", \"Not_A Brand\";v=\"99\"\r\n"
    "sec-ch-ua-mobile: ?0\r\n"
    "sec-ch-ua-platform: \"Linux\"\r\n"
    "Upgrade-Insecure-Requests: 1\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 "
    "Safari/537.36\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8\r\n"
    "Sec-Fetch-Site: same-origin\r\n"
    "Sec-Fetch-Mode: navigate\r\n"
    "Sec-Fetch-User: ?1\r\n"
    "Sec-Fetch-Dest: document\r\n"
    "Referer: https://www.example.com/articles/2026/11/\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\n"
    "Accept-Language: en-GB,en;q=0.9,de;q=0.8\r\n"
    "Cookie: session=0123456789abcdef0123456789abcdef; theme=dark; consent=2026-01-01T00%3A00%3A00Z\r\n"
    "\r\n";

void parse(const std::string& bytes, long n) {
  gyre::http::head_parser parser(gyre::http::head_parser::kind::request);
  for (long i = 0; i < n; ++i) {
    parser.reset();
    bench::keep(parser.parse(bytes));
    gyre::http::framing framing;
    bench::keep(gyre::http::understand_request(parser, framing));
  }
}

}  // namespace

int main() {
  bench::measure("parse the head of a small request", [](long n) { parse(std::string(small), n); });
  bench::measure("parse the head of a browser's request", [](long n) { parse(std::string(browser), n); });
}
