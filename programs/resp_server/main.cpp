// programs/resp_server/main.cpp: a small in-memory Redis.
#include "programs/resp_server/server.hpp"

int main(int argc, char** argv) {
  CLI::App app("A small in-memory Redis: RESP2 and inline commands, strings with expiry.", "resp_server");
  resp::resp_server_options options;
  programs::add_server_options(app, options.server, "127.0.0.1:6380");
  app.add_option("--maxmemory", options.keys.max_bytes,
                 "bytes of keys and values; commands that add are refused above");
  app.add_option("--max-bulk", options.limits.max_bulk_bytes, "bytes of one argument")->capture_default_str();
  app.add_option("--max-arguments", options.limits.max_arguments, "arguments of one request")->capture_default_str();
  if (const int code = programs::parse(app, argc, argv); code >= 0) return code;
  return gyre::run_main(resp::serve(options), options.server.run());
}
