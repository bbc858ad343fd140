// programs/echo_server/main.cpp: sends back whatever it receives.
#include "programs/common/server_options.hpp"

#include <CLI/CLI.hpp>

namespace {

gyre::task<> echo(gyre::tcp_stream peer) {
  while (gyre::buffer_lease received = co_await peer.receive()) co_await peer.write_all(received.bytes());
}

gyre::task<> serve(programs::server_options options) {
  auto listener = gyre::tcp_listener::bind(options.listen);
  programs::announce(listener);
  co_await listener.serve(echo, options.serve());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Sends back whatever it receives, on every connection.", "echo_server");
  programs::server_options options;
  programs::add_server_options(app, options, "127.0.0.1:8888");
  programs::add_thread_options(app, options.threads, options.accept);
  if (const int code = programs::parse(app, argc, argv); code >= 0) return code;
  return gyre::run_main(serve(options), options.run());
}
