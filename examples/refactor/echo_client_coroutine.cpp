// examples/refactor/echo_client_coroutine.cpp: echo_client_blocking with tasks in place of its threads.
#include <gyre/gyre.hpp>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

gyre::task<> send(gyre::tcp_stream& server, bool& all_sent) {
  auto input = gyre::fs::standard_input();
  std::array<char, 16384> buffer;
  while (const auto n = co_await input.read_some(buffer))  // one line, if the input is typed
    co_await server.write_all(std::string_view(buffer.data(), n));
  all_sent = true;
  co_await server.shutdown_write();
}

gyre::task<> receive(gyre::tcp_stream& server, const bool& all_sent) {
  auto output = gyre::fs::standard_output();
  std::array<char, 16384> buffer;
  while (const auto n = co_await server.read_some(buffer))
    co_await output.write_all(std::string_view(buffer.data(), n));
  if (!all_sent) throw std::runtime_error("the server has closed the connection");
}

// Sends and receives at the same time: a client that sends everything first can deadlock with a
// server that waits for its reader.
gyre::task<> talk(std::string where) {
  gyre::tcp_stream server = co_await gyre::tcp_stream::connect(where);
  bool all_sent = false;
  auto both = gyre::gather(send(server, all_sent), receive(server, all_sent));
  co_await std::move(both);  // the first failure cancels the other
}

}  // namespace

int main(int count, char** arguments) {
  const bool has_address = count == 3 && std::string_view(arguments[1]) == "--connect";
  if (count != 1 && !has_address) {
    std::fprintf(stderr, "usage: echo_client_coroutine [--connect HOST:PORT]\n");
    return 2;
  }
  return gyre::run_main(talk(has_address ? arguments[2] : "127.0.0.1:8888"));
}
