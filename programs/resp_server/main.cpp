// programs/resp_server/main.cpp: an example of a sharded server: a few commands of Redis.
#include "programs/common/command_line.hpp"
#include "programs/common/option_checks.hpp"
#include "programs/common/process_signals.hpp"
#include "programs/common/server_options.hpp"
#include "programs/resp_server/server.hpp"

#include <gyre/loop/loop_group.hpp>
#include <gyre/net/tcp_listener.hpp>

#include <cstddef>

namespace {

gyre::task<> serve(programs::server_options options, resp::server_limits limits) {
  const gyre::loop_group* const loops = gyre::event_loop::current().group();
  resp::shard_set shards(loops == nullptr ? 1 : loops->size(), limits);
  auto listener = gyre::tcp_listener::bind(options.listen);
  shards.port = listener.local_address().port();
  programs::announce(listener);
  co_await resp::serve_shards(listener, shards, options.serve());
}

}  // namespace

int main(int argc, char** argv) {
  programs::begin_process();
  programs::command_line app("resp_server",
                             "An example of a sharded server: a few commands of Redis, on strings with expiry.");
  programs::server_options options;
  resp::server_limits limits;
  std::size_t all_clients = 0;
  programs::add_server_options(app, options, "127.0.0.1:6380");
  programs::add_thread_options(app, options.threads, options.accept);
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
  size("--client-output-buffer-limit", limits.output_buffer,
       "bytes of one reply, or of a value in an array; larger ones are refused")
      .show_default();
  programs::add_seconds(app, "--write-timeout", limits.write_timeout,
                        "time in which a client must take 64 KiB of a reply, or its rest");
  size("--max-bulk", limits.request.max_bulk_bytes, "bytes of one argument").show_default();
  app.add_option("--max-arguments", limits.request.max_arguments, "arguments of one request")
      .check(programs::check_count)
      .show_default();
  if (const int code = app.parse(argc, argv); code >= 0) return code;
  programs::release_hang_up();
  if (keys != 0) limits.memory = keys;
  if (const std::size_t all = all_clients != 0 ? all_clients : keys; all != 0) limits.all_clients = all;
  return gyre::run_main(serve(options, limits), options.run());
}
