// examples/07_parallel_download.cpp: fetches several pages at once over plain connections and prints their sizes.
#include <gyre/gyre.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

// `url` is HOST:PORT/PATH. With HTTP/1.0 the end of the stream is the end of the page.
gyre::task<std::size_t> fetch(std::string url) {
  const std::size_t slash = url.find('/');
  const std::string host = url.substr(0, slash);
  const std::string path = slash == std::string::npos ? "/" : url.substr(slash);
  gyre::stream_connection connection = co_await gyre::open_connection(host);
  connection.writer.write("GET " + path + " HTTP/1.0\r\nHost: " + host + "\r\n\r\n");
  co_await connection.writer.flush();
  const std::string head = co_await connection.reader.read_until("\r\n\r\n");
  if (head.find(" 200 ") == std::string::npos) throw std::runtime_error(url + ": " + head.substr(0, head.find('\r')));
  std::size_t size = 0;
  while (!connection.reader.at_eof()) {
    const std::string part = co_await connection.reader.read();
    size += part.size();
  }
  co_return size;
}

gyre::task<int> fetch_all(std::vector<std::string> urls) {
  std::vector<gyre::task_handle<std::size_t>> downloads;
  for (const std::string& url : urls) {
    auto limited = [url]() -> gyre::task<std::size_t> {
      auto page = fetch(url);
      co_return co_await gyre::timeout(30s, std::move(page));
    };
    downloads.push_back(gyre::spawn(limited, {.name = url}));
  }
  int failed = 0;
  auto order = gyre::as_completed(downloads);  // each is reported as soon as it is done
  while (auto* download = co_await order.next()) {
    try {
      std::printf("%.*s: %zu bytes\n", static_cast<int>(download->name().size()), download->name().data(),
                  download->result());
    } catch (const std::exception& error) {
      std::printf("failed: %s\n", error.what());
      ++failed;
    }
  }
  co_return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return gyre::run_main(fetch_all({argv + 1, argv + argc})); }
