// programs/gyre/serve/settings.cpp: the flags of `gyre serve`.
#include "programs/gyre/serve/settings.hpp"

#include <gyre/http/cors.hpp>
#include <gyre/http/response.hpp>
#include <gyre/net/address.hpp>

#include "programs/common/command_line.hpp"
#include "programs/common/option_checks.hpp"
#include "programs/common/server_options.hpp"
#include "programs/gyre/serve/allowed_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace programs {
namespace {

std::string check_listen(const std::string& text) {
  if (text.starts_with("unix:") && text.size() > 5) return {};
  if (gyre::address::parse(text)) return {};
  return fmt::format("expected HOST:PORT with a numeric host, or unix:PATH, got \"{}\"", text);
}

// Returns the reason for which the library refuses a value, or "".
template <class F>
std::string refusal_by(F use) {
  try {
    use();
    return {};
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
}

std::string check_header(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0) return fmt::format("expected \"Name: value\", got \"{}\"", text);
  const auto value = text.find_first_not_of(" \t", colon + 1);
  return refusal_by([&] {
    gyre::http::response().add_field(text.substr(0, colon), value == std::string::npos ? "" : text.substr(value));
  });
}

std::string check_cache_control(const std::string& text) {
  return refusal_by([&] { gyre::http::response().add_field("Cache-Control", text); });
}

std::string check_origin(const std::string& text) {
  const std::string refusal = refusal_by([&] { (void)gyre::http::cors({.origins = {text}}); });
  return refusal.empty() ? refusal
                         : fmt::format("expected an origin such as https://example.org, or *, got \"{}\"", text);
}

std::string check_index(const std::string& text) {
  if (text.find('/') == std::string::npos) return {};
  return fmt::format("expected the name of a file, got \"{}\"", text);
}

void add_limits(command& app, serve_settings& settings) {
  auto& limits = settings.limits;
  auto& timeouts = settings.timeouts;
  const auto number = [&app](const std::string& flag, const std::string& variable, auto& value, const char* what) {
    app.add_option(flag, value, what).check(check_count).environment(variable).show_default().group("Limits");
  };
  number("--max-connections", "GYRE_MAX_CONNECTIONS", limits.connections, "connections in all; more are answered 503");
  app.add_option(
         "--max-connections-per-address", limits.connections_per_address,
         "the same for one IPv4 address or /64 network of IPv6; loopback and private addresses have a limit only "
         "when it is given")
      .check(check_count)
      .environment("GYRE_MAX_CONNECTIONS_PER_ADDRESS")
      .show_default(std::to_string(gyre::http::server_limits::default_connections_per_address))
      .group("Limits");
  number("--max-requests-per-connection", "GYRE_MAX_REQUESTS_PER_CONNECTION", limits.requests_per_connection,
         "requests before a connection is closed");
  number("--max-target", "GYRE_MAX_TARGET", limits.head.target, "bytes of a request's target; more is answered 414");
  number("--max-header-fields", "GYRE_MAX_HEADER_FIELDS", limits.head.fields, "header fields; more is answered 431");
  number("--max-header-bytes", "GYRE_MAX_HEADER_BYTES", limits.head.size, "bytes of a request's head; more: 431");
  const auto seconds = [&app](const std::string& flag, const std::string& variable, std::chrono::nanoseconds& value,
                              const char* what) {
    add_seconds(app, flag, value, what).environment(variable).group("Limits");
  };
  seconds("--header-timeout", "GYRE_HEADER_TIMEOUT", timeouts.head, "time for the head of a request; later: 408");
  number("--max-handshakes", "GYRE_MAX_HANDSHAKES", limits.handshakes,
         "TLS handshakes at a time in each thread; a further one ends the oldest");
  seconds("--handshake-timeout", "GYRE_HANDSHAKE_TIMEOUT", timeouts.handshake, "time for a TLS handshake");
  seconds("--body-timeout", "GYRE_BODY_TIMEOUT", timeouts.body, "time for each 16 KiB of a body; later: 408");
  seconds("--idle-timeout", "GYRE_IDLE_TIMEOUT", timeouts.idle, "time between two requests");
  seconds("--write-timeout", "GYRE_WRITE_TIMEOUT", timeouts.write, "time for each 64 KiB of a response");
  seconds("--drain", "GYRE_DRAIN", timeouts.drain, "time for what is under way at SIGINT or SIGTERM");
}

}  // namespace

void add_front_options(command& app, serve_settings& settings) {
  app.add_option("--listen", settings.listen, "HOST:PORT, port 0 for any free one; or unix:PATH")
      .check(check_listen)
      .environment("GYRE_LISTEN")
      .show_default();
  app.add_option("--admin", settings.admin, "HOST:PORT for /healthz, /readyz and /metrics (default: not served)")
      .check(check_listen)
      .environment("GYRE_ADMIN");
  add_thread_options(app, settings.threads, settings.accept);
  app.option("--threads").environment("GYRE_THREADS");
  app.option("--accept").environment("GYRE_ACCEPT");
  app.add_option("--backend", settings.backend, "auto, io_uring or epoll (auto also obeys GYRE_BACKEND)")
      .one_of({"auto", "io_uring", "epoll"})
      .show_default();
  app.add_option("--access-log", settings.access_log, "a line for each request on standard output: text, json or off")
      .one_of({"text", "json", "off"})
      .environment("GYRE_ACCESS_LOG")
      .show_default();
  add_encryption_options(app, settings.tls);
  add_limits(app, settings);
  add_version_flag(app);
}

void add_serve_options(command& app, serve_settings& settings) {
  app.add_option("DIR", settings.root, "the directory to serve").existing_directory().show_default();
  add_front_options(app, settings);
  app.add_option(
         "--allow-host", settings.allowed_hosts,
         "a host name that requests may be for, besides addresses and localhost, or * for any; several: repeated, or "
         "with commas (default: any, and none when --listen is a loopback address)")
      .one_value_each()  // the next argument may be DIR
      .separated_by(',')
      .check(check_allowed_host)
      .environment("GYRE_ALLOW_HOST");
  app.add_option("--cors", settings.cors,
                 "an origin whose pages may read the files, or * for any; several: repeated, or with commas")
      .one_value_each()  // the next argument may be DIR
      .separated_by(',')
      .check(check_origin)
      .environment("GYRE_CORS");
  app.add_flag("--compress", settings.compress, "compress text for clients that take that")
      .environment("GYRE_COMPRESS");
  app.add_option(
         "--header", settings.headers,
         "\"Name: value\" added to every response, except to what never became a request (such as 400, 408, 503); "
         "several: repeated, or one a line")
      .one_value_each()  // the next argument may be DIR
      .separated_by('\n')
      .check(check_header)
      .environment("GYRE_HEADER");
  app.add_option("--index", settings.index, "the file that answers for its directory")
      .check(check_index)
      .environment("GYRE_INDEX")
      .show_default();
  app.add_option("--cache-control", settings.cache_control, "the Cache-Control of files (default: none)")
      .check(check_cache_control)
      .environment("GYRE_CACHE_CONTROL");
  app.add_flag("--listing,!--no-listing", settings.listing, "list directories without an index (default)")
      .environment("GYRE_LISTING");
  app.add_flag("--hidden", settings.hidden, "serve names that begin with a dot; /.well-known/ is always served")
      .environment("GYRE_HIDDEN");
  app.add_flag("--spa", settings.spa, "serve the root index for missing pages").environment("GYRE_SPA");
  app.add_option("--upload", settings.upload,
                 "a directory that takes uploads, from the form at /_upload or by PUT /_upload/NAME; when it lies in "
                 "DIR, no file is sent in place of another (a.txt.gz for a.txt)")
      .existing_directory()
      .environment("GYRE_UPLOAD");
  app.add_option("--max-upload", settings.upload_limit,
                 "bytes of an upload, also as 64kb, 500mb, 1.5gb; more is answered 413")
      .convert(read_size, "SIZE")
      .environment("GYRE_MAX_UPLOAD")
      .show_default()
      .group("Limits");
}

bool serves_uploads(const serve_settings& settings) {
  if (settings.upload.empty()) return false;
  const std::filesystem::path served = std::filesystem::canonical(settings.root);
  const std::filesystem::path written = std::filesystem::canonical(settings.upload);
  return std::mismatch(served.begin(), served.end(), written.begin(), written.end()).first == served.end();
}

namespace {

std::string limit_per_address(const gyre::http::server_limits& limits) {
  if (limits.connections_per_address) return fmt::format("{} per address", *limits.connections_per_address);
  return fmt::format("{} per address of the internet", gyre::http::server_limits::default_connections_per_address);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> describe_front(const serve_settings& settings) {
  const auto seconds = [](std::chrono::nanoseconds time) {
    return fmt::format("{:g} s", std::chrono::duration<double>(time).count());
  };
  return {{"access log", settings.access_log},
          {"limits", fmt::format("{} connections, {}, {} requests each", settings.limits.connections,
                                 limit_per_address(settings.limits), settings.limits.requests_per_connection)},
          {"", fmt::format("target {} bytes, {} header fields, {} bytes in all", settings.limits.head.target,
                           settings.limits.head.fields, settings.limits.head.size)},
          {"time-outs", fmt::format("head {}, body {}, idle {}, write {}, drain {}", seconds(settings.timeouts.head),
                                    seconds(settings.timeouts.body), seconds(settings.timeouts.idle),
                                    seconds(settings.timeouts.write), seconds(settings.timeouts.drain))}};
}

std::vector<std::pair<std::string, std::string>> describe(const serve_settings& settings) {
  std::vector<std::pair<std::string, std::string>> all = describe_front(settings);
  all.insert(all.begin() + 1, {{"index", settings.index.empty() ? "none" : settings.index},
                               {"directories", settings.listing ? "listed when they have no index" : "not listed"},
                               {"compress", settings.compress ? "on" : "off"}});
  const auto add = [&all](bool wanted, const char* name, std::string value) {
    if (wanted) all.emplace_back(name, std::move(value));
  };
  if (const allowed_hosts hosts(settings.listen, settings.allowed_hosts); hosts)
    add(true, "hosts",
        fmt::format("addresses, localhost{}{}", settings.allowed_hosts.empty() ? "" : ", ",
                    fmt::join(settings.allowed_hosts, ", ")));
  add(settings.hidden, "hidden files", "served");
  add(settings.spa, "missing pages", settings.index);
  add(!settings.cors.empty(), "cors", fmt::format("{}", fmt::join(settings.cors, ", ")));
  add(!settings.headers.empty(), "headers", fmt::format("{}", fmt::join(settings.headers, "; ")));
  add(!settings.cache_control.empty(), "cache control", settings.cache_control);
  add(!settings.upload.empty(), "uploads",
      fmt::format("to {}, at most {} bytes, form at /_upload", settings.upload, settings.upload_limit));
  add(serves_uploads(settings), "", "in what is served: no a.txt.gz is sent in place of an a.txt");
  return all;
}

}  // namespace programs
