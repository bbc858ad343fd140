// programs/gyre/serve/front_server.cpp: the servers of a program, and its output.
#include "programs/gyre/serve/front_server.hpp"

#include "programs/common/server_options.hpp"
#include "programs/encryption/failed_handshakes.hpp"
#include "programs/encryption/redirect.hpp"
#include "programs/gyre/serve/admin.hpp"
#include "programs/gyre/serve/allowed_hosts.hpp"
#include "programs/gyre/serve/observer.hpp"

#include <gyre/io/io_error.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/runtime/run.hpp>
#include <gyre/tasks/shield.hpp>
#include <gyre/tasks/spawn.hpp>

#include <fmt/color.h>
#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace programs {
namespace {

std::string url_of(const std::string& where, const char* scheme = "http") {
  return where.starts_with("unix:") ? where : fmt::format("{}://{}/", scheme, where);
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
    const std::string shown = gyre::printable(value);
    gyre::write_diagnostic(fmt::format("  {:<14}{}\n", name, colours_ ? fmt::format(style, "{}", shown) : shown));
  }

 private:
  bool colours_ = false;
};

class front_server {
 public:
  front_server(const serve_settings& settings, const front_content& content)
      : settings_(settings),
        content_(content),
        encryption_(make_encryption(settings_.tls)),
        counted_(settings_.threads),
        heard_(settings_, counted_) {}

  gyre::task<> run() {
    const gyre::security security = encryption_ ? encryption_->sessions() : gyre::security();
    auto listen = [&] {
      gyre::http::server_options options = make_server_options(settings_, heard_, security);
      options.failed_handshakes = &failed_handshakes_;
      options.make_routes = [this] {
        heard_.begin_here();
        return content_.make_routes();
      };
      return std::make_unique<gyre::http::server>(std::move(options));
    };
    const std::unique_ptr<gyre::http::server> server = co_await when_address_is_free(listen);
    std::unique_ptr<gyre::http::server> admin;
    auto listen_for_operators = [&] { return std::make_unique<gyre::http::server>(admin_options(*server)); };
    if (!settings_.admin.empty()) admin = co_await when_address_is_free(listen_for_operators);
    std::unique_ptr<gyre::http::server> redirect;
    auto listen_for_redirects = [&] { return std::make_unique<gyre::http::server>(redirect_options(*server)); };
    if (!settings_.tls.redirect.empty()) redirect = co_await when_address_is_free(listen_for_redirects);
    std::vector<gyre::task_handle<void>> beside;
    if (admin) beside.push_back(gyre::spawn(admin->run(), {.name = "admin"}));
    if (redirect) beside.push_back(gyre::spawn(redirect->run(), {.name = "redirects to HTTPS"}));
    if (encryption_) {
      beside.push_back(gyre::spawn(encryption_->keep_fresh(), {.name = "renewal of certificates"}));
      beside.push_back(gyre::spawn(failed_handshakes_.count_minutes(), {.name = "log of failed handshakes"}));
    }
    announce(*server, admin.get(), redirect.get());  // from here on, SIGHUP may come
    co_await serve_with(*server, beside);
  }

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

  // The admin address answers until the end of the drain.
  static gyre::task<> serve_with(gyre::http::server& server, std::vector<gyre::task_handle<void>>& beside) {
    std::exception_ptr failure;
    try {
      co_await server.run();
    } catch (...) {
      failure = std::current_exception();
    }
    for (auto& each : beside) each.cancel();
    for (auto& each : beside) co_await gyre::shield(each.wait());
    if (failure) std::rethrow_exception(failure);
    for (auto& each : beside)
      if (!each.state().was_cancelled()) each.result();
  }

  gyre::http::server_options redirect_options(const gyre::http::server& server) {
    gyre::http::server_options options = programs::redirect_options(settings_.tls.redirect, server.where());
    options.limits = settings_.limits;
    options.timeouts = settings_.timeouts;
    return options;
  }

  [[nodiscard]] std::string more_metrics() const {
    return (encryption_ ? failed_handshakes_.metrics() : std::string()) +
           (content_.more_metrics ? content_.more_metrics() : std::string());
  }

  gyre::http::server_options admin_options(const gyre::http::server& server) {
    gyre::http::server_options options;
    options.listen = settings_.admin;
    options.observe_stop = false;
    auto routes = make_admin([&server] { return server.draining(); },
                             [this](traffic& sum) {
                               for (const traffic& each : counted_) sum.add(each);
                             },
                             [this] { return more_metrics(); });
    allowed_hosts hosts(settings_.admin, {});  // in its own network it has names that this server does not know
    if (hosts) hosts = allowed_hosts(settings_.admin, settings_.allowed_hosts);
    options.routes = only_for(std::move(hosts), std::move(routes));
    return options;
  }

  void announce(const gyre::http::server& server, const gyre::http::server* admin,
                const gyre::http::server* redirect) const {
    const terminal out;
    gyre::print_diagnostic({content_.title});
    out.line("address", url_of(server.where(), encryption_ ? "https" : "http"),
             fmt::emphasis::bold | fmt::fg(fmt::terminal_color::green));
    if (admin != nullptr) out.line("admin", admin_url(admin->where()), fmt::fg(fmt::terminal_color::green));
    if (redirect != nullptr) out.line("redirect", url_of(redirect->where()), fmt::fg(fmt::terminal_color::green));
    out.line("backend", gyre::event_loop::current().backend().name());
    out.line("threads", std::to_string(settings_.threads));
    if (encryption_)
      for (const auto& [name, value] : encryption_->describe()) out.line(name, value);
    for (const auto& [name, value] : content_.description) out.line(name, value);
    gyre::print_diagnostic({"listening on ", server.where()});
  }

  const serve_settings& settings_;
  const front_content& content_;
  std::unique_ptr<encryption> encryption_;  // null for plain text
  failed_handshakes failed_handshakes_;
  std::vector<traffic> counted_;  // by the index of the loop
  observers heard_;
};

}  // namespace

int run_front_server(serve_settings& settings, const front_content& content) {
  try {
    settings.threads = loops_for(settings.threads);
  } catch (const std::invalid_argument& error) {  // GYRE_THREADS, which --threads 0 has not overridden
    gyre::print_diagnostic({"error: ", error.what()});
    return 2;
  }
  if (const std::string wrong = check(settings.tls); !wrong.empty()) {
    gyre::print_diagnostic({"error: ", wrong});
    return 2;
  }
  gyre::run_options options = run_with(settings.backend);
  options.threads = settings.threads;
  try {
    front_server server(settings, content);
    return gyre::run_main(server.run(), options);
  } catch (const std::invalid_argument& error) {  // GYRE_KERNEL_TLS
    gyre::print_diagnostic({"error: ", error.what()});
    return 2;
  } catch (const std::runtime_error& error) {  // a certificate that cannot be used
    gyre::print_diagnostic({"error: ", error.what()});
    return 1;
  }
}

}  // namespace programs
