// examples/tcp_proxy.cpp: passes every connection on to another address, in both directions.
//
// usage: tcp_proxy LISTEN UPSTREAM    such as: tcp_proxy 127.0.0.1:8080 example.org:80
//
// It does not know where a message ends, so SIGTERM cuts none off: the connections that are open go on until they end
// on their own. After serve_options::drain (10 s) the rest is reset, on both sides, so that nobody takes a part for the
// whole. A second signal does that at once.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <string>
#include <system_error>

namespace {

gyre::task<> serve(std::string listen, std::string upstream) {
  auto listener = gyre::tcp_listener::bind(listen);
  std::printf("listening on %s\n", listener.local_address().string().c_str());
  std::fflush(stdout);
  auto forward = [&](gyre::tcp_stream client) -> gyre::task<> {
    try {
      auto server = co_await gyre::tcp_stream::connect(upstream);
      co_await gyre::copy_bidirectional(client, server);
    } catch (const gyre::io_error& error) {    // ends this connection only
      gyre::print_diagnostic({error.what()});  // never waits for a reader of standard error
      client.abort();
    }
  };
  co_await listener.serve(forward);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fputs("usage: tcp_proxy LISTEN UPSTREAM\n", stderr);
    return 2;
  }
  return gyre::run_main(serve(arguments[1], arguments[2]));
}
