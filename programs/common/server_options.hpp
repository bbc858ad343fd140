// programs/common/server_options.hpp: the command line that every server program shares.
#pragma once

#include <gyre/net/tcp_listener.hpp>
#include <gyre/runtime/run.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace programs {

class command;

struct server_options {
  std::string listen;
  std::string backend = "auto";
  double drain_seconds = 10;
  double busy_poll_microseconds = 0;
  std::size_t max_connections = 65'536;
  unsigned threads = 1;  // 0: one per core
  gyre::accept_mode accept = gyre::accept_mode::reuse_port;

  [[nodiscard]] gyre::run_options run() const;
  [[nodiscard]] gyre::serve_options serve() const;
};

/// Adds --listen, --backend, --busy-poll, --drain, --max-connections and --version to `app`.
void add_server_options(command& app, server_options& options, const char* default_listen);

/// Adds --threads and --accept, for programs whose handlers may run on several loops.
void add_thread_options(command& app, unsigned& threads, gyre::accept_mode& accept);
/// The number of loops for a value of --threads: usable_cores() for 0. Errors: same as usable_cores().
[[nodiscard]] unsigned loops_for(unsigned threads);

/// Adds --version.
void add_version_flag(command& app);

/// Adds --backend and --version, for clients.
void add_backend_option(command& app, std::string& backend);
[[nodiscard]] gyre::run_options run_with(const std::string& backend);

/// Prints the line by which scripts find the server: "listening on 127.0.0.1:8888 (io_uring)".
void announce(const gyre::tcp_listener& listener);

}  // namespace programs
