// bench/clients/counted_requests.cpp: GET requests by gyre's client on one connection, for bench/budgets.py.
// Arguments: PORT COUNT.
#include <gyre/client.hpp>
#include <gyre/gyre.hpp>

#include <cstdlib>
#include <string>
#include <string_view>

namespace {

gyre::task<> ask(std::string url, long count) {
  gyre::http::client client;
  for (long i = 0; i < count; ++i) {
    auto response = co_await client.get(url);
    for (;;) {
      const std::string_view piece = co_await response.body().receive();
      if (piece.empty()) break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return gyre::run_main(ask("http://127.0.0.1:" + std::string(argv[1]) + "/", std::atol(argv[2])));
}
