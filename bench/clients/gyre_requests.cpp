// bench/clients/gyre_requests.cpp: GET requests by gyre's client, one after the other on each of its connections.
// Arguments: PORT CONNECTIONS SECONDS.
#include <gyre/client.hpp>
#include <gyre/gyre.hpp>

#include "bench/clients/outcome.hpp"

#include <cstdlib>
#include <string>

namespace http = gyre::http;

namespace {

gyre::task<> ask(http::client& client, const std::string& url, bench::outcome& counted) {
  while (!counted.over()) {
    auto response = co_await client.get(url);
    std::size_t size = 0;
    for (;;) {
      const std::string_view piece = co_await response.body().receive();
      if (piece.empty()) break;
      size += piece.size();
    }
    counted.add(size);
  }
}

gyre::task<> ask_on_all(int port, int connections, bench::outcome& counted) {
  http::client client;
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/";
  auto all = [&](gyre::task_group& group) -> gyre::task<> {
    for (int i = 0; i < connections; ++i) group.spawn(ask(client, url, counted));
    co_return;
  };
  co_await gyre::task_group::scope(all);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  bench::outcome counted(std::atof(argv[3]));
  const int failed = gyre::run_main(ask_on_all(std::atoi(argv[1]), std::atoi(argv[2]), counted));
  counted.print();
  return failed;
}
