// programs/gyre/load/settings.hpp: the flags of `gyre load`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace programs {

class command;

struct load_settings {
  std::string url;
  std::size_t connections = 64;
  unsigned threads = 1;  // 0: one per core
  std::chrono::nanoseconds duration = std::chrono::seconds(10);
  std::uint64_t requests = 0;  // 0: until the time is over
  double rate = 0;             // 0: closed loop
  std::string method;          // empty: GET, or POST with data
  std::vector<std::string> headers;
  std::optional<std::string> data;
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);
  bool insecure = false;
  std::string authorities;  // a file in place of those of the system; empty for them
  bool no_keep_alive = false;
  bool json = false;
  std::string backend = "auto";
};

void add_load_options(command& app, load_settings& settings);

}  // namespace programs
