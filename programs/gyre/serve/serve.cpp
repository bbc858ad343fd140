// programs/gyre/serve/serve.cpp: the main loop of `gyre serve`, its threads, and its output.
#include "programs/gyre/serve/serve.hpp"

#include "programs/common/server_options.hpp"
#include "programs/gyre/serve/admin.hpp"
#include "programs/gyre/serve/allowed_hosts.hpp"
#include "programs/gyre/serve/observer.hpp"
#include "programs/gyre/serve/worker.hpp"

#include <gyre/http/shared_connection_count.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/loop/stop_request.hpp>
#include <gyre/net/tcp_listener.hpp>
#include <gyre/runtime/run.hpp>
#include <gyre/runtime/usable_cores.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/tasks/shield.hpp>
#include <gyre/tasks/spawn.hpp>

#include <fmt/color.h>
#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace programs {
namespace {

std::string url_of(const std::string& where) {
  return where.starts_with("unix:") ? where : fmt::format("http://{}/", where);
}

std::string admin_url(const std::string& where) {
  return where.starts_with("unix:") ? where + " (/metrics)" : url_of(where) + "metrics";
}

class terminal {
 public:
  terminal() {
    const char* const kind = std::getenv("TERM");
    colours_ = ::isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr && kind != nullptr &&
               std::string_view(kind) != "dumb";
  }
  void line(std::string_view name, std::string_view value, fmt::text_style style = {}) const {
    fmt::print(stderr, "  {:<14}", name);
    const std::string shown = gyre::printable(value);
    if (colours_)
      fmt::print(stderr, style, "{}", shown);
    else
      fmt::print(stderr, "{}", shown);
    fmt::print(stderr, "\n");
  }

 private:
  bool colours_ = false;
};

class site_server {
 public:
  explicit site_server(serve_settings settings) : settings_(std::move(settings)) {}

  gyre::task<> run() {
    observer heard(settings_, own_);
    auto listen = [&] {
      require_own_port();
      return std::make_unique<gyre::http::server>(make_server_options(settings_, heard, connections_));
    };
    const std::unique_ptr<gyre::http::server> server = co_await when_address_is_free(listen);
    settings_.listen = server->where();
    std::unique_ptr<gyre::http::server> admin;
    auto listen_for_operators = [&] { return std::make_unique<gyre::http::server>(admin_options(*server)); };
    if (!settings_.admin.empty()) admin = co_await when_address_is_free(listen_for_operators);
    std::exception_ptr failure;
    try {
      start_workers();
      announce(*server, admin.get());
      if (admin)
        co_await serve_with(*server, *admin);
      else
        co_await server->run();
    } catch (...) {
      failure = std::current_exception();
    }
    auto ended = end_of_workers();
    co_await gyre::shield(std::move(ended));
    if (failure) std::rethrow_exception(failure);
  }

  /// True if one of the threads ended with an error. The error has been printed. Valid after the end.
  [[nodiscard]] bool worker_failed() const noexcept { return worker_failed_; }

 private:
  // A killed server may hold the address for some milliseconds after its end, and longer on a busy machine: the kernel
  // closes the descriptors of an io_uring asynchronously. That is not the fault of the user who starts the next server.
  template <class F>
  static gyre::task<std::unique_ptr<gyre::http::server>> when_address_is_free(F& listen) {
    const gyre::time_point until = gyre::now() + std::chrono::seconds(2);
    for (;;) {
      try {
        co_return listen();
      } catch (const gyre::io_error& error) {
        if (error.code() != std::errc::address_in_use || gyre::now() > until) throw;
      }
      co_await gyre::sleep(std::chrono::milliseconds(10));
    }
  }

  // The listeners of several threads share their port with each other, and also with a second server started by
  // mistake: each server would then get half of the requests. A listener that does not share detects that.
  void require_own_port() const {
    if (settings_.threads > 1) (void)gyre::tcp_listener::bind(settings_.listen);
  }

  // The admin address answers until the end of the drain.
  static gyre::task<> serve_with(gyre::http::server& server, gyre::http::server& admin) {
    auto operators = gyre::spawn(admin.run(), {.name = "admin"});
    std::exception_ptr failure;
    try {
      co_await server.run();
    } catch (...) {
      failure = std::current_exception();
    }
    operators.cancel();
    co_await gyre::shield(operators.wait());
    if (failure) std::rethrow_exception(failure);
    if (!operators.state().was_cancelled()) operators.result();
  }

  // This loop waits for all workers in `end_of_workers`, so they can post to it.
  void start_workers() {
    workers_.reserve(settings_.threads);
    gyre::event_loop& loop = gyre::event_loop::current();
    for (unsigned i = 1; i < settings_.threads; ++i) {
      counted_.push_back(std::make_unique<traffic>());
      auto ended = [this, &loop](bool failed) { loop.post([this, failed] { worker_ended(failed); }); };
      workers_.push_back(std::make_unique<worker>(settings_, *counted_.back(), connections_, std::move(ended)));
      ++running_workers_;
    }
  }

  // A server with fewer threads than configured is not reliable, so all of them drain.
  void worker_ended(bool failed) {
    if (--running_workers_ == 0) all_workers_ended_.set();
    worker_failed_ = worker_failed_ || failed;
    if (failed) gyre::request_stop();
  }

  // Also called after a failure of this thread's server.
  gyre::task<> end_of_workers() {
    gyre::request_stop();
    if (running_workers_ > 0) co_await all_workers_ended_.wait();
  }

  gyre::http::server_options admin_options(const gyre::http::server& server) {
    gyre::http::server_options options;
    options.listen = settings_.admin;
    options.observe_stop = false;
    auto routes = make_admin([&server] { return server.draining(); },
                             [this](traffic& sum) {
                               sum.add(own_);
                               for (const auto& each : counted_) sum.add(*each);
                             });
    allowed_hosts hosts(settings_.admin, {});  // in its own network it has names that this server does not know
    if (hosts) hosts = allowed_hosts(settings_.admin, settings_.allowed_hosts);
    options.routes = only_for(std::move(hosts), std::move(routes));
    return options;
  }

  void announce(const gyre::http::server& server, const gyre::http::server* admin) const {
    const terminal out;
    gyre::print_diagnostic({"gyre serves ", std::filesystem::absolute(settings_.root).lexically_normal().string()});
    out.line("address", url_of(server.where()), fmt::emphasis::bold | fmt::fg(fmt::terminal_color::green));
    if (admin != nullptr) out.line("admin", admin_url(admin->where()), fmt::fg(fmt::terminal_color::green));
    out.line("backend", gyre::event_loop::current().backend().name());
    out.line("threads", std::to_string(settings_.threads));
    for (const auto& [name, value] : describe(settings_)) out.line(name, value);
    gyre::print_diagnostic({"listening on ", server.where()});
    std::fflush(stderr);
  }

  serve_settings settings_;
  traffic own_;
  gyre::http::shared_connection_count connections_;
  std::vector<std::unique_ptr<traffic>> counted_;
  std::vector<std::unique_ptr<worker>> workers_;
  std::size_t running_workers_ = 0;
  gyre::event all_workers_ended_;
  bool worker_failed_ = false;
};

}  // namespace

int serve(const serve_settings& given) {
  serve_settings settings = given;
  try {
    if (settings.threads == 0) settings.threads = gyre::usable_cores();
  } catch (const std::invalid_argument& error) {  // GYRE_THREADS, which --threads 0 has not overridden
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
  if (settings.threads > 1 && settings.listen.starts_with("unix:")) {
    fmt::print(stderr, "error: a Unix socket has one listener: use --threads 1, or a TCP address\n");
    return 2;
  }
  if (settings.spa && settings.index.empty()) {
    fmt::print(stderr, "error: --spa answers with the index of the root: name a file with --index\n");
    return 2;
  }
  const gyre::run_options options = run_with(settings.backend);
  site_server server(std::move(settings));
  const int code = gyre::run_main(server.run(), options);
  return server.worker_failed() ? 1 : code;
}

}  // namespace programs
