// examples/06_port_scanner.cpp: finds the open ports of a host: at most 200 attempts at a time, one second each.
#include <gyre/gyre.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

gyre::task<bool> is_open(gyre::address where) {
  try {
    auto connecting = gyre::tcp_stream::connect(where);
    (void)co_await gyre::timeout(1s, std::move(connecting));
    co_return true;
  } catch (const gyre::io_error&) {  // refused, unreachable or timed out
    co_return false;
  }
}

gyre::task<int> scan(std::string host, int first, int last) {
  const std::vector<gyre::address> found = co_await gyre::resolve(host, 0);
  std::vector<gyre::task<bool>> attempts;
  for (int port = first; port <= last; ++port)
    attempts.push_back(is_open(found.at(0).with_port(static_cast<std::uint16_t>(port))));
  auto all = gyre::gather(std::move(attempts), {.max_concurrent = 200});
  const auto open = co_await std::move(all);
  for (int port = first; port <= last; ++port)
    if (open[static_cast<std::size_t>(port - first)]) std::printf("%d is open\n", port);
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: 06_port_scanner HOST FIRST LAST\n");
    return 2;
  }
  return gyre::run_main(scan(argv[1], std::atoi(argv[2]), std::atoi(argv[3])));
}
