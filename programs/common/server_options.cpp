// programs/common/server_options.cpp: the command line that every server program shares.
#include "programs/common/server_options.hpp"

#include <gyre/io/printable.hpp>
#include <gyre/runtime/usable_cores.hpp>
#include <gyre/version.hpp>

#include "programs/common/command_line.hpp"
#include "programs/common/option_checks.hpp"

#include <fmt/format.h>

namespace programs {

gyre::run_options run_with(const std::string& backend) {
  gyre::run_options run;
  run.handle_signals = true;
  if (backend == "io_uring") run.loop.backend.kind = gyre::io::backend_kind::io_uring;
  if (backend == "epoll") run.loop.backend.kind = gyre::io::backend_kind::epoll;
  return run;
}

gyre::run_options server_options::run() const {
  gyre::run_options run = run_with(backend);
  run.loop.busy_poll = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double, std::micro>(busy_poll_microseconds));
  run.threads = loops_for(threads);
  return run;
}

gyre::serve_options server_options::serve() const {
  gyre::serve_options serve;
  serve.threads = 0;  // all that run() starts
  serve.accept = accept;
  serve.max_connections = max_connections;
  serve.drain = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(drain_seconds));
  return serve;
}

unsigned loops_for(unsigned threads) { return threads != 0 ? threads : gyre::usable_cores(); }

void add_thread_options(command& app, unsigned& threads, gyre::accept_mode& accept) {
  app.add_option("--threads", threads, "event loops, each on a thread of its own; 0: one for each usable core")
      .in_range(0, 1024)
      .show_default();
  app.add_choice("--accept", accept,
                 {{"reuse_port", gyre::accept_mode::reuse_port}, {"one_acceptor", gyre::accept_mode::one_acceptor}},
                 "with several threads: reuse_port (the kernel spreads connections) or one_acceptor (each goes to the "
                 "loop that has the fewest)");
}

void add_backend_option(command& app, std::string& backend) {
  app.add_option("--backend", backend, "auto, io_uring or epoll (auto also obeys GYRE_BACKEND)")
      .one_of({"auto", "io_uring", "epoll"})
      .show_default();
  add_version_flag(app);
}

void add_version_flag(command& app) { app.add_version_flag("--version", app.name() + " " + gyre::version_string); }

void add_server_options(command& app, server_options& options, const char* default_listen) {
  options.listen = default_listen;
  app.add_option("--listen", options.listen, "HOST:PORT to listen on; port 0: any free one")
      .check([](const std::string& text) -> std::string {
        const auto parsed = gyre::address::parse(text);
        return parsed ? std::string() : fmt::format("expected HOST:PORT with a numeric host, got \"{}\"", text);
      })
      .show_default();
  add_backend_option(app, options.backend);
  app.add_option("--busy-poll", options.busy_poll_microseconds,
                 "microseconds that an idle loop looks for work before it sleeps: faster answers for processor time")
      .check(check_duration("microseconds", 0, 1e6))
      .show_default();
  app.add_option("--drain", options.drain_seconds, "seconds that connections get to finish after SIGINT or SIGTERM")
      .check(check_duration("seconds", 0, 86'400))
      .show_default();
  app.add_option("--max-connections", options.max_connections, "connections served at the same time")
      .in_range(1, 10'000'000)
      .show_default();
}

void announce(const gyre::tcp_listener& listener) {
  gyre::print_diagnostic(
      {"listening on ", listener.local_address().string(), " (", gyre::event_loop::current().backend().name(), ")"});
}

}  // namespace programs
