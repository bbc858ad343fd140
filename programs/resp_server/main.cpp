// programs/resp_server/main.cpp: a small in-memory Redis.
#include "programs/common/command_line.hpp"
#include "programs/common/option_checks.hpp"
#include "programs/common/process_signals.hpp"
#include "programs/resp_server/server.hpp"

#include <algorithm>
#include <chrono>

int main(int argc, char** argv) {
  programs::begin_process();
  programs::command_line app("resp_server", "A small in-memory Redis: RESP2 and inline commands, strings with expiry.");
  resp::resp_server_options options;
  std::size_t all_clients = 0;
  double write_timeout = 60;
  programs::add_server_options(app, options.server, "127.0.0.1:6380");
  programs::add_thread_options(app, options.server.threads, options.server.accept);
  const auto size = [&app](const char* name, auto& value, const char* description) {
    return app.add_option(name, value, description).convert(programs::read_size, "SIZE");
  };
  std::size_t keys = 0;
  app.add_option("--maxmemory", keys,
                 "bytes (or 50mb) of keys, values, requests and replies; commands that add are refused above (default: "
                 "0, no limit)")
      .convert(programs::read_size_or_zero, "SIZE");
  size("--maxmemory-clients", all_clients,
       "bytes of the requests and replies of all clients, of which each thread has an equal part; the largest clients "
       "are closed above (default: maxmemory, else 1gb)");
  size("--client-output-buffer-limit", options.limits.output_buffer, "bytes of one reply; larger ones are refused")
      .show_default();
  app.add_option("--write-timeout", write_timeout, "seconds in which a client must take 64 KiB of a reply, or its rest")
      .check(programs::check_duration("seconds", 0.001, 86'400))
      .show_default();
  size("--max-bulk", options.limits.request.max_bulk_bytes, "bytes of one argument").show_default();
  app.add_option("--max-arguments", options.limits.request.max_arguments, "arguments of one request")
      .check(programs::check_count)
      .show_default();
  if (const int code = app.parse(argc, argv); code >= 0) return code;
  programs::release_hang_up();
  options.limits.write_timeout =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(write_timeout));
  if (keys != 0) options.keys.max_bytes = keys;
  if (const std::size_t all = all_clients != 0 ? all_clients : options.keys.max_bytes.value_or(0); all != 0)
    options.limits.all_clients = all;
  return gyre::run_main(resp::serve(options), options.server.run());
}
