// programs/hello_server/main.cpp: GET / answers "Hello, World!", POST /echo what it was sent. For benchmarks.
#include "programs/common/command_line.hpp"
#include "programs/common/process_signals.hpp"
#include "programs/common/server_options.hpp"
#include "programs/encryption/encryption.hpp"
#include "programs/encryption/failed_handshakes.hpp"
#include "programs/encryption/redirect.hpp"

#include <gyre/gyre.hpp>
#include <gyre/http.hpp>
#include <gyre/io/line_output.hpp>
#include <gyre/io/printable.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace {

namespace http = gyre::http;

struct settings {
  programs::server_options server;
  programs::encryption_settings tls;
};

gyre::task<http::response> echo(http::request& request) {
  std::string body = co_await request.body().read_all();
  const std::string_view type = request.field("Content-Type");
  co_return http::response::bytes(std::move(body), type.empty() ? "application/octet-stream" : type);
}

http::server_options options_of(const settings& chosen) {
  http::server_options options;
  options.listen = chosen.server.listen;
  options.threads = 0;  // all that the program has
  options.accept = chosen.server.accept;
  options.limits.connections = chosen.server.max_connections;
  options.timeouts.drain = chosen.server.serve().drain;
  return options;
}

gyre::task<> serve(const settings& chosen, programs::encryption* encryption) {
  http::router routes;
  routes.get("/", [](http::request&) { return http::response::text("Hello, World!"); });
  routes.post("/echo", echo);
  http::server_options options = options_of(chosen);
  options.routes = std::move(routes);  // shared by all loops: these handlers keep nothing between requests
  programs::failed_handshakes failures;
  options.failed_handshakes = &failures;
  if (encryption != nullptr) options.encryption = encryption->sessions();
  http::server server(std::move(options));

  std::optional<http::server> redirect;
  if (!chosen.tls.redirect.empty()) redirect.emplace(programs::redirect_options(chosen.tls.redirect, server.where()));
  // Made before the line that says that the server listens: from then on, SIGHUP may come.
  std::optional<gyre::task<>> fresh;
  if (encryption != nullptr) fresh.emplace(encryption->keep_fresh());
  if (encryption != nullptr)
    for (const auto& [name, value] : encryption->describe()) gyre::print_diagnostic({name, ": ", value});
  if (redirect) gyre::print_diagnostic({"redirect: http://", redirect->where(), "/"});
  // Without waiting for a reader: the loop has to notice signals.
  (void)gyre::line_output::write_once(
      STDOUT_FILENO, fmt::format("listening on {}://{}\n", encryption != nullptr ? "https" : "http", server.where()));

  auto all = [&](gyre::task_group& beside) -> gyre::task<> {
    if (redirect) beside.spawn(redirect->run(), {.name = "redirects to HTTPS"});
    if (fresh) {
      beside.spawn(*std::move(fresh), {.name = "renewal of certificates"});
      beside.spawn(failures.count_minutes(), {.name = "log of failed handshakes"});
    }
    co_await server.run();  // until SIGINT or SIGTERM; then it drains
    beside.cancel();
  };
  co_await gyre::task_group::scope(all);
}

}  // namespace

int main(int argc, char** argv) {
  programs::begin_process();
  programs::command_line app("hello_server", "Answers \"Hello, World!\" over HTTP or HTTPS.");
  settings chosen;
  programs::add_server_options(app, chosen.server, "127.0.0.1:8080");
  programs::add_thread_options(app, chosen.server.threads, chosen.server.accept);
  programs::add_encryption_options(app, chosen.tls);
  if (const int code = app.parse(argc, argv); code >= 0) return code;
  if (!chosen.tls.wanted()) programs::release_hang_up();
  if (const std::string wrong = programs::check(chosen.tls); !wrong.empty()) {
    gyre::print_diagnostic({"error: ", wrong});
    return 2;
  }
  try {
    const std::unique_ptr<programs::encryption> encryption = programs::make_encryption(chosen.tls);
    return gyre::run_main(serve(chosen, encryption.get()), chosen.server.run());
  } catch (const std::exception& failure) {  // a certificate that cannot be used
    gyre::print_diagnostic({"error: ", failure.what()});
    return 1;
  }
}
