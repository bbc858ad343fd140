// programs/gyre/fetch/settings.hpp: the flags of `gyre fetch`.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace programs {

class command;

struct fetch_settings {
  std::vector<std::string> urls;
  std::string output;  // of the only URL; empty or "-": standard output
  std::string directory = ".";
  bool remote_names = false;  // each in a file with the last part of its URL
  bool resume = false;
  std::size_t parallel = 4;  // for files
  std::string method;
  std::vector<std::string> headers;
  std::optional<std::string> data;
  std::optional<std::string> json;
  std::string user;
  bool include_head = false;
  bool head_only = false;
  unsigned redirects = 10;
  unsigned retries = 0;
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max();
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(10);
  bool insecure = false;
  std::string authorities;
  std::string unix_socket;
  std::optional<std::string> proxy;     // nothing: as the environment says; empty: none
  std::optional<std::string> no_proxy;  // hosts; nothing: as the environment says
  bool silent = false;
  std::string backend = "auto";

  [[nodiscard]] bool to_files() const noexcept { return remote_names || (!output.empty() && output != "-"); }
  /// The status and the fields precede the body.
  [[nodiscard]] bool shows_head() const noexcept { return include_head || head_only; }
};

void add_fetch_options(command& app, fetch_settings& settings);

}  // namespace programs
