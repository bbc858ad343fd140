// programs/gyre/serve/settings.hpp: the settings of `gyre serve`.
#pragma once

#include "programs/encryption/encryption.hpp"

#include <gyre/http/server_limits.hpp>
#include <gyre/net/listen_on_loops.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace programs {

class command;

struct serve_settings {
  std::string root = ".";
  std::string listen = "127.0.0.1:8080";
  std::string admin;  // empty for none
  std::vector<std::string>
      allowed_hosts;  // names besides addresses and localhost, "*" for any; if empty, see allowed_hosts
  std::string backend = "auto";
  unsigned threads = 1;  // 0: one per core
  gyre::accept_mode accept = gyre::accept_mode::reuse_port;
  std::string access_log = "text";
  std::vector<std::string> cors;  // origins, "*" for any
  bool compress = false;
  std::vector<std::string> headers;  // "Name: value"
  std::string index = "index.html";
  std::string cache_control;
  bool listing = true;
  bool hidden = false;
  bool spa = false;
  std::string upload;  // the directory; empty for none
  std::uint64_t upload_limit = std::uint64_t{4} << 30U;
  encryption_settings tls = {};
  gyre::http::server_limits limits = {};
  gyre::http::server_timeouts timeouts = {};
};

/// Adds the flags of the server itself, whatever it serves: address, threads, log, encryption, limits.
void add_front_options(command& app, serve_settings& settings);
/// Adds all flags, each with its GYRE_ variable of the environment.
void add_serve_options(command& app, serve_settings& settings);

/// True if uploaded files are inside the served directory. Errors: std::filesystem::filesystem_error.
[[nodiscard]] bool serves_uploads(const serve_settings& settings);

/// Lists the settings of the server itself, for people.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> describe_front(const serve_settings& settings);
/// Lists settings that differ from their defaults, for people: "threads 4, compress on".
[[nodiscard]] std::vector<std::pair<std::string, std::string>> describe(const serve_settings& settings);

}  // namespace programs
