// bench/micro/micro_balance.cpp: how evenly long-lived connections are spread over the loops of a server.
#include <gyre/gyre.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

constexpr int rounds = 20;

gyre::task<> tell_loop_and_stay(gyre::tcp_stream peer) {
  const auto index = static_cast<std::byte>(gyre::event_loop::current().index());
  co_await peer.write_all(std::span(&index, 1));
  (void)co_await peer.receive();  // until the client leaves
}

/// The largest number of connections of a loop, divided by its fair share.
gyre::task<double> largest_share(std::size_t loops, std::size_t connections, gyre::accept_mode mode) {
  auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
  auto server = gyre::spawn(listener.serve(tell_loop_and_stay, {.threads = loops, .accept = mode}));
  co_await gyre::yield();
  std::vector<std::size_t> counts(loops);
  std::vector<gyre::tcp_stream> clients;
  for (std::size_t i = 0; i < connections; ++i) {
    clients.push_back(co_await gyre::tcp_stream::connect(listener.local_address()));
    std::byte index{};
    co_await clients.back().read_exactly(std::span(&index, 1));
    ++counts[static_cast<std::size_t>(index)];
  }
  clients.clear();
  server.cancel();
  co_await server.wait();
  co_return static_cast<double>(*std::ranges::max_element(counts) * loops) / static_cast<double>(connections);
}

gyre::task<> measure(std::size_t loops) {
  for (const auto mode : {gyre::accept_mode::reuse_port, gyre::accept_mode::one_acceptor})
    for (const std::size_t connections : {8U, 64U, 1000U}) {
      std::vector<double> shares;
      for (int i = 0; i < rounds; ++i) shares.push_back(co_await largest_share(loops, connections, mode));
      std::ranges::sort(shares);
      std::printf("%-13s %5zu connections, %zu loops: the largest share is %.2f (%.2f-%.2f) of a fair one\n",
                  mode == gyre::accept_mode::reuse_port ? "reuse_port" : "one_acceptor", connections, loops,
                  shares[shares.size() / 2], shares.front(), shares.back());
    }
}

}  // namespace

int main() {
  for (const std::size_t loops : {2U, 4U}) gyre::run(measure(loops), {.threads = loops});
}
