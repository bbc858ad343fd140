// programs/common/server_options.cpp: the command line that every server program shares.
#include "programs/common/server_options.hpp"

#include <gyre/io/printable.hpp>
#include <gyre/runtime/usable_cores.hpp>
#include <gyre/version.hpp>

#include "programs/common/option_checks.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

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

void add_thread_options(CLI::App& app, unsigned& threads, gyre::accept_mode& accept) {
  app.add_option("--threads", threads, "event loops, each on a thread of its own; 0: one for each usable core")
      ->check(CLI::Range(0U, 1024U))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--accept",
         [&accept](const std::string& mode) {
           accept = mode == "one_acceptor" ? gyre::accept_mode::one_acceptor : gyre::accept_mode::reuse_port;
         },
         "with several threads: reuse_port (the kernel spreads connections) or one_acceptor (each goes to the loop "
         "that has the fewest)")
      ->check(CLI::IsMember({"reuse_port", "one_acceptor"}))
      ->default_str("reuse_port");
}

void add_backend_option(CLI::App& app, std::string& backend) {
  app.add_option("--backend", backend, "auto, io_uring or epoll (auto also obeys GYRE_BACKEND)")
      ->check(CLI::IsMember({"auto", "io_uring", "epoll"}))
      ->capture_default_str();
  app.set_version_flag("--version", std::string(app.get_name()) + " " + gyre::version_string);
}

void add_server_options(CLI::App& app, server_options& options, const char* default_listen) {
  options.listen = default_listen;
  app.add_option("--listen", options.listen, "HOST:PORT to listen on; port 0: any free one")
      ->check([](const std::string& text) -> std::string {
        const auto parsed = gyre::address::parse(text);
        return parsed ? std::string() : fmt::format("expected HOST:PORT with a numeric host, got \"{}\"", text);
      })
      ->capture_default_str();
  add_backend_option(app, options.backend);
  app.add_option("--busy-poll", options.busy_poll_microseconds,
                 "microseconds that an idle loop looks for work before it sleeps: faster answers for processor time")
      ->check(check_duration("microseconds", 0, 1e6))
      ->capture_default_str();
  app.add_option("--drain", options.drain_seconds, "seconds that connections get to finish after SIGINT or SIGTERM")
      ->check(check_duration("seconds", 0, 86'400))
      ->capture_default_str();
  app.add_option("--max-connections", options.max_connections, "connections served at the same time")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}))
      ->capture_default_str();
}

namespace {

// The message for a bad value names its flag. If the value came from an environment variable, this names the variable.
void name_variable(const CLI::App& app, std::string_view message, const std::vector<std::string_view>& arguments) {
  for (const CLI::App* const each : app.get_subcommands()) name_variable(*each, message, arguments);
  for (const CLI::Option* const each : app.get_options()) {
    const std::string flag = each->get_name();
    const std::string variable = each->get_envname();
    const auto is_given = [&](std::string_view text) { return text == flag || text.starts_with(flag + "="); };
    const auto at = message.find(flag);
    if (variable.empty() || std::getenv(variable.c_str()) == nullptr || at == std::string_view::npos) continue;
    if (const auto behind = at + flag.size(); behind < message.size() && message[behind] == '-') continue;
    if (std::none_of(arguments.begin(), arguments.end(), is_given))
      fmt::print(stderr, "The value comes from {} in the environment.\n", variable);
  }
}

}  // namespace

int parse(CLI::App& app, int argc, char** argv) {
  app.failure_message([](const CLI::App* of, const CLI::Error& error) {
    const std::string hint = CLI::FailureMessage::simple(of, CLI::Error("", ""));  // begins with an empty line
    return gyre::printable(error.what()) + hint;
  });
  try {
    app.parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    if (code == 0) return 0;
    name_variable(app, error.what(), {argv + 1, argv + argc});
    return 2;
  }
}

void announce(const gyre::tcp_listener& listener) {
  fmt::print(stderr, "listening on {} ({})\n", listener.local_address().string(),
             gyre::event_loop::current().backend().name());
  std::fflush(stderr);
}

}  // namespace programs
