// programs/echo_server/main.cpp: sends back whatever it receives.
#include "programs/common/command_line.hpp"
#include "programs/common/process_signals.hpp"
#include "programs/common/server_options.hpp"

namespace {

gyre::task<> echo(gyre::tcp_stream peer) {
  while (co_await peer.next_or_stop()) {
    const gyre::buffer_lease received = co_await peer.receive();
    co_await peer.write_all(received.bytes());
  }
}

gyre::task<> serve(programs::server_options options) {
  auto listener = gyre::tcp_listener::bind(options.listen);
  programs::announce(listener);
  co_await listener.serve(echo, options.serve());
}

}  // namespace

int main(int argc, char** argv) {
  programs::begin_process();
  programs::command_line app("echo_server", "Sends back whatever it receives, on every connection.");
  programs::server_options options;
  programs::add_server_options(app, options, "127.0.0.1:8888");
  programs::add_thread_options(app, options.threads, options.accept);
  if (const int code = app.parse(argc, argv); code >= 0) return code;
  programs::release_hang_up();
  return gyre::run_main(serve(options), options.run());
}
