// examples/https_server.cpp: http_server over TLS, with the certificate of files, or with one that nobody trusts.
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>
#include <gyre/tls.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace {

namespace http = gyre::http;
namespace tls = gyre::tls;

gyre::task<> serve(std::string where, std::string chain, std::string key) {
  const tls::certificate identity = chain.empty() ? tls::certificate::self_signed({"localhost", "127.0.0.1"})
                                                  : tls::certificate::from_files(chain, key);
  http::router routes;
  routes.get("/", [](http::request&) { return http::response::text("Hello, World!"); });
  http::server_options options;
  options.listen = std::move(where);
  options.routes = std::move(routes);
  const tls::server_config config({.certificates = {identity}, .protocols = {"http/1.1"}});
  options.encryption = tls::server_sessions(config);
  http::server server(std::move(options));
  std::printf("certificate %s\nlistening on https://%s\n", identity.fingerprint().c_str(), server.where().c_str());
  std::fflush(stdout);
  co_await server.run();  // until SIGINT or SIGTERM; then it drains
}

}  // namespace

int main(int count, char** arguments) {  // https_server [HOST:PORT [CHAIN KEY]]
  const auto argument = [&](int number, const char* otherwise) {
    return std::string(count > number ? arguments[number] : otherwise);
  };
  return gyre::run_main(serve(argument(1, "127.0.0.1:8443"), argument(2, ""), argument(3, "")));
}
