// programs/gyre/main.cpp: the gyre command for operators.
#include "programs/common/server_options.hpp"
#include "programs/gyre/doctor.hpp"
#include "programs/gyre/fetch/fetch.hpp"
#include "programs/gyre/load/load.hpp"
#include "programs/gyre/proxy/proxy.hpp"
#include "programs/gyre/serve/serve.hpp"

#include <gyre/io/printable.hpp>
#include <gyre/version.hpp>

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  CLI::App app("The gyre command.", "gyre");
  app.set_version_flag("--version", std::string("gyre ") + gyre::version_string);
  app.require_subcommand(1);
  CLI::App* const doctor = app.add_subcommand("doctor", "Tells what this machine lets gyre do, and why");
  CLI::App* const serve = app.add_subcommand("serve", "Serves a directory over HTTP");
  programs::serve_settings settings;
  programs::add_serve_options(*serve, settings);
  serve->parse_complete_callback([] {});  // with one, its variables are read only when it is the command
  CLI::App* const load = app.add_subcommand("load", "Measures how fast an HTTP server answers");
  programs::load_settings load_settings;
  programs::add_load_options(*load, load_settings);
  CLI::App* const fetch = app.add_subcommand("fetch", "Gets URLs");
  programs::fetch_settings fetch_settings;
  programs::add_fetch_options(*fetch, fetch_settings);
  CLI::App* const proxy = app.add_subcommand("proxy", "Passes HTTP requests on to servers behind it");
  programs::proxy_settings proxy_settings;
  programs::add_proxy_options(*proxy, proxy_settings);
  proxy->parse_complete_callback([] {});
  const std::string first = argc > 1 ? argv[1] : "";
  const auto is_first = [&first](const CLI::App* each) { return each->get_name() == first; };
  if (!first.empty() && first[0] != '-' && app.get_subcommands(is_first).empty()) {
    gyre::print_diagnostic({"no command \"", first, "\"; there are doctor, fetch, load, proxy and serve"});
    return 2;
  }
  if (const int code = programs::parse(app, argc, argv); code >= 0) return code;
  if (doctor->parsed()) return programs::doctor();
  if (serve->parsed()) return programs::serve(settings);
  if (fetch->parsed()) return programs::fetch(fetch_settings);
  if (proxy->parsed()) return programs::proxy(proxy_settings);
  if (load->parsed()) return programs::load(load_settings);
  return 2;
}
