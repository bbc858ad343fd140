// programs/gyre/requests/requests_absent.cpp: `gyre fetch`, `gyre load` and `gyre proxy` in a build without OpenSSL,
// which the client library needs.
#include "programs/common/command_line.hpp"
#include "programs/gyre/fetch/fetch.hpp"
#include "programs/gyre/load/load.hpp"
#include "programs/gyre/proxy/proxy.hpp"

#include <gyre/io/printable.hpp>

namespace programs {
namespace {

int refuse() {
  gyre::print_diagnostic({"gyre: this program was built without OpenSSL; install its headers and build again"});
  return 1;
}

}  // namespace

void add_load_options(command& app, load_settings& /*settings*/) { app.allow_extras(); }
void add_fetch_options(command& app, fetch_settings& /*settings*/) { app.allow_extras(); }
void add_proxy_options(command& app, proxy_settings& /*settings*/) { app.allow_extras(); }
int load(const load_settings& /*settings*/) { return refuse(); }
int proxy(const proxy_settings& /*settings*/) { return refuse(); }
int fetch(const fetch_settings& /*settings*/) { return refuse(); }

}  // namespace programs
