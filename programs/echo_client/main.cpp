// programs/echo_client/main.cpp: sends messages to an echo server and checks that the same bytes come back.
#include "programs/common/command_line.hpp"
#include "programs/common/option_checks.hpp"
#include "programs/common/process_signals.hpp"
#include "programs/common/server_options.hpp"
#include "programs/common/standard_output.hpp"

#include <gyre/tasks/gather.hpp>
#include <gyre/tasks/timeout.hpp>

#include <fmt/format.h>

#include <vector>

namespace {

struct client_options {
  std::string connect = "127.0.0.1:8888";
  std::string backend = "auto";
  std::size_t connections = 1;
  std::size_t messages = 1000;
  std::size_t size = 106;
  double timeout_seconds = 10;
};

// A pattern that differs between messages, so that lost, duplicated or swapped messages are detected.
void fill(std::vector<char>& message, std::size_t connection, std::size_t number) {
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<char>('!' + (connection + number + i) % 90);
}

gyre::task<> talk(const client_options& options, std::size_t connection) {
  auto peer = co_await gyre::tcp_stream::connect(options.connect);
  std::vector<char> sent(options.size);
  std::vector<char> received(options.size);
  for (std::size_t number = 0; number < options.messages; ++number) {
    fill(sent, connection, number);
    // Large messages must be sent and received at the same time: neither side may wait for the other's buffers.
    auto exchanged = gyre::gather(peer.write_all(std::as_bytes(std::span(sent))),
                                  peer.read_exactly(std::as_writable_bytes(std::span(received))));
    co_await gyre::timeout(std::chrono::duration<double>(options.timeout_seconds), std::move(exchanged));
    if (sent != received)
      throw std::runtime_error(fmt::format("connection {}, message {}: other bytes came back", connection, number));
  }
}

gyre::task<int> run_client(client_options options) {
  const auto begin = gyre::now();
  std::vector<gyre::task<>> talks;
  talks.reserve(options.connections);
  for (std::size_t i = 0; i < options.connections; ++i) talks.push_back(talk(options, i));
  co_await gyre::gather(std::move(talks));
  const double seconds = std::chrono::duration<double>(gyre::now() - begin).count();
  const auto total = static_cast<double>(options.connections * options.messages);
  const bool printed = programs::print_result(
      fmt::format("{:.0f} messages of {} bytes over {} connections in {:.3f} s: {:.0f} messages/s, all correct\n",
                  total, options.size, options.connections, seconds, total / seconds));
  co_return printed ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  programs::begin_process();
  programs::command_line app("echo_client", "Sends messages to an echo server and checks what comes back.");
  client_options options;
  app.add_option("--connect", options.connect, "HOST:PORT of the server").show_default();
  app.add_option("--connections", options.connections, "connections at the same time")
      .in_range(1, 100'000)
      .show_default();
  app.add_option("--messages", options.messages, "messages on each connection")
      .check(programs::check_count)
      .show_default();
  app.add_option("--size", options.size, "bytes in a message").in_range(1, 1U << 30U).show_default();
  app.add_option("--timeout", options.timeout_seconds, "seconds that one message may take")
      .check(programs::check_duration("seconds", 0.001, 1e6))
      .show_default();
  programs::add_backend_option(app, options.backend);
  if (const int code = app.parse(argc, argv); code >= 0) return code;
  programs::release_hang_up();
  return gyre::run_main(run_client(options), programs::run_with(options.backend));
}
