// examples/refactor/echo_client_blocking.cpp: sends the standard input to a server, and prints what comes back.
#include "plain_sockets.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace {

void send(const plain::stream& server, std::atomic<bool>& all_sent) {
  const plain::stream input(::dup(STDIN_FILENO));
  std::array<char, 16384> buffer;
  while (const auto n = input.read_some(buffer))  // one line, if the input is typed
    server.write_all(std::string_view(buffer.data(), n));
  all_sent = true;
  server.shutdown_write();
}

void receive(const plain::stream& server, const std::atomic<bool>& all_sent) {
  const plain::stream output(::dup(STDOUT_FILENO));
  std::array<char, 16384> buffer;
  while (const auto n = server.read_some(buffer)) output.write_all(std::string_view(buffer.data(), n));
  if (!all_sent) throw std::runtime_error("the server has closed the connection");
}

/// Nothing wakes the other thread while it waits for input, so the process ends with both.
template <class F>
void end_the_program_on_failure(F function) {
  try {
    function();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    std::_Exit(1);
  }
}

// Sends and receives at the same time: a client that sends everything first can deadlock with a
// server that waits for its reader.
void talk(const std::string& where) {
  const plain::stream server = plain::connect(where);
  std::atomic<bool> all_sent = false;
  std::thread receiving([&] { end_the_program_on_failure([&] { receive(server, all_sent); }); });
  end_the_program_on_failure([&] { send(server, all_sent); });
  receiving.join();
}

}  // namespace

int main(int count, char** arguments) {
  const bool has_address = count == 3 && std::string_view(arguments[1]) == "--connect";
  if (count != 1 && !has_address) {
    std::fprintf(stderr, "usage: echo_client_blocking [--connect HOST:PORT]\n");
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  try {
    talk(has_address ? arguments[2] : "127.0.0.1:8888");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
