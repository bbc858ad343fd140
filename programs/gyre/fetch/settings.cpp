// programs/gyre/fetch/settings.cpp: the flags of `gyre fetch`.
#include "programs/gyre/fetch/settings.hpp"

#include "programs/common/command_line.hpp"
#include "programs/common/option_checks.hpp"
#include "programs/common/server_options.hpp"
#include "programs/gyre/requests/request_options.hpp"

namespace programs {

void add_fetch_options(command& app, fetch_settings& settings) {
  app.add_option("URL", settings.urls, "http:// or https://, one or several").required().check(check_url);
  const command_option output =
      app.add_option("-o,--output", settings.output, "the file for the body (default, and with -: standard output)")
          .check(
              [](const std::string& name) { return std::string(name.empty() ? "expected the name of a file" : ""); });
  app.add_flag("-O,--remote-name", settings.remote_names, "a file for each URL, named by the last part of its path")
      .excludes(output);
  app.add_option("--output-dir", settings.directory, "the directory of these files")
      .existing_directory()
      .show_default();
  app.add_flag("-C,--resume", settings.resume,
               "continue files that an earlier call has left unfinished (NAME.part), if the server still has the same");
  app.add_option("--parallel", settings.parallel, "files that are fetched at the same time")
      .check(check_count)
      .show_default();
  app.add_option("-X,--method", settings.method, "the method (default: GET, HEAD with -I, POST with a body)")
      .check(check_method);
  app.add_option("-H,--header", settings.headers, "\"Name: value\" added to the request; several: repeated")
      .one_value_each()
      .check(check_request_header);
  const command_option data = app.add_option(
      "-d,--data", settings.data, "the body, or @FILE; application/x-www-form-urlencoded unless -H says otherwise");
  app.add_option("--json", settings.json, "the same, as application/json, and asks for JSON").excludes(data);
  app.add_option("-u,--user", settings.user, "NAME:PASSWORD for basic authentication")
      .check([](const std::string& text) {
        return text.contains(':') ? std::string() : std::string("expected NAME:PASSWORD");
      });
  app.add_flag("-i,--include", settings.include_head, "print the status and the fields of the response, too");
  app.add_flag("-I,--head", settings.head_only, "ask only for them");
  app.add_option("--max-redirs", settings.redirects, "redirects that are followed; 0: none")
      .in_range(0, 1000)
      .show_default();
  app.add_option("--retry", settings.retries,
                 "how often a request is repeated that failed in a way that may pass; files continue where they were")
      .in_range(0, 1000)
      .show_default();
  add_seconds(app, "-m,--max-time", settings.timeout, "the time for each URL (default: no limit)");
  add_seconds(app, "--connect-timeout", settings.connect_timeout, "the time for connecting");
  app.add_flag("-k,--insecure", settings.insecure, "accept any certificate");
  app.add_option("--cacert", settings.authorities, "a file with the certificates to trust, in place of the system's")
      .existing_file();
  app.add_option("--unix-socket", settings.unix_socket, "the path of a Unix socket to connect to");
  app.add_option("-x,--proxy", settings.proxy,
                 "http://, socks5:// or socks5h:// URL of a proxy (default: http_proxy, https_proxy or all_proxy); "
                 "empty: none")
      .check(check_proxy);
  app.add_option("--noproxy", settings.no_proxy,
                 "hosts that are reached without a proxy, separated by commas; * for all (default: no_proxy)");
  app.add_flag("-s,--silent", settings.silent, "no progress, and no message for each file");
  add_backend_option(app, settings.backend);
}

}  // namespace programs
