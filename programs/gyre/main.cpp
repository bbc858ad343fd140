// programs/gyre/main.cpp: the gyre command for operators.
#include "programs/common/command_line.hpp"
#include "programs/common/process_signals.hpp"
#include "programs/common/system_files.hpp"
#include "programs/gyre/doctor.hpp"
#include "programs/gyre/fetch/fetch.hpp"
#include "programs/gyre/load/load.hpp"
#include "programs/gyre/proxy/proxy.hpp"
#include "programs/gyre/serve/serve.hpp"

#include <gyre/io/printable.hpp>
#include <gyre/version.hpp>

#include <string>

int main(int argc, char** argv) {
  programs::begin_process();
  programs::adapt_to_system();
  programs::command_line app("gyre", "The gyre command.");
  app.add_version_flag("--version", std::string("gyre ") + gyre::version_string);
  app.require_command();
  const programs::command doctor = app.add_command("doctor", "Tells what this machine lets gyre do, and why");
  programs::command serve = app.add_command("serve", "Serves a directory over HTTP");
  programs::serve_settings settings;
  programs::add_serve_options(serve, settings);
  serve.read_environment_when_chosen();
  programs::command load = app.add_command("load", "Measures how fast an HTTP server answers");
  programs::load_settings load_settings;
  programs::add_load_options(load, load_settings);
  programs::command fetch = app.add_command("fetch", "Gets URLs");
  programs::fetch_settings fetch_settings;
  programs::add_fetch_options(fetch, fetch_settings);
  programs::command proxy = app.add_command("proxy", "Passes HTTP requests on to servers behind it");
  programs::proxy_settings proxy_settings;
  programs::add_proxy_options(proxy, proxy_settings);
  proxy.read_environment_when_chosen();
  const std::string first = argc > 1 ? argv[1] : "";
  if (!first.empty() && first[0] != '-' && !app.has_command(first)) {
    gyre::print_diagnostic({"no command \"", first, "\"; there are doctor, fetch, load, proxy and serve"});
    return 2;
  }
  if (const int code = app.parse(argc, argv); code >= 0) return code;
  if (!settings.tls.wanted() && !proxy_settings.server.tls.wanted()) programs::release_hang_up();
  if (doctor.chosen()) return programs::doctor();
  if (serve.chosen()) return programs::serve(settings);
  if (fetch.chosen()) return programs::fetch(fetch_settings);
  if (proxy.chosen()) return programs::proxy(proxy_settings);
  if (load.chosen()) return programs::load(load_settings);
  return 2;
}
