// examples/https_server.cpp: hello_server over TLS: GET / answers "Hello, World!".
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>
#include <gyre/tls.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

namespace http = gyre::http;
namespace tls = gyre::tls;

struct settings {
  std::string where = "127.0.0.1:8443";
  std::size_t threads = 1;
  std::string chain;  // files; without them, the server makes a certificate that nobody trusts
  std::string key;
};

gyre::task<> serve(settings chosen) {
  const tls::certificate identity = chosen.chain.empty() ? tls::certificate::self_signed({"localhost", "127.0.0.1"})
                                                         : tls::certificate::from_files(chosen.chain, chosen.key);
  http::router routes;
  routes.get("/", [](http::request&) { return http::response::text("Hello, World!"); });
  http::server_options options;
  options.listen = chosen.where;
  options.routes = std::move(routes);
  options.threads = chosen.threads;
  const tls::server_config config({.certificates = {identity}, .protocols = {"http/1.1"}});
  options.encryption = tls::server_sessions(config);
  http::server server(std::move(options));
  std::printf("certificate %s\nlistening on https://%s\n", identity.fingerprint().c_str(), server.where().c_str());
  std::fflush(stdout);
  co_await server.run();  // until SIGINT or SIGTERM; then it drains
}

}  // namespace

int main(int count, char** arguments) {
  settings chosen;
  for (int i = 1; i < count; i += 2) {
    const std::string_view option = arguments[i];
    const char* const value = i + 1 < count ? arguments[i + 1] : "";
    if (option == "--listen") {
      chosen.where = value;
    } else if (option == "--threads") {
      chosen.threads = std::strtoul(value, nullptr, 10);
    } else if (option == "--tls-cert") {
      chosen.chain = value;
    } else if (option == "--tls-key") {
      chosen.key = value;
    } else {
      std::fprintf(stderr,
                   "usage: https_server [--listen HOST:PORT] [--threads N] [--tls-cert FILE --tls-key FILE]\n"
                   "Without files, it makes a certificate of its own.\n");
      return 2;
    }
  }
  return gyre::run_main(serve(std::move(chosen)));
}
