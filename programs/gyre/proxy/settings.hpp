// programs/gyre/proxy/settings.hpp: the flags of `gyre proxy`.
#pragma once

#include "programs/gyre/proxy/upstreams.hpp"
#include "programs/gyre/serve/settings.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace programs {

class command;

struct proxy_settings {
  serve_settings server;  // the address, limits, encryption, log; not what is served
  std::vector<std::string> servers;
  upstreams::policy choice;
  unsigned retries = 2;  // on other servers
  std::size_t connections = 1024;
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(5);
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  std::uint64_t body_limit = std::numeric_limits<std::uint64_t>::max();
  std::string health;  // a path; empty for no checks
  std::chrono::nanoseconds health_interval = std::chrono::seconds(5);
  bool trust_forwarded = false;
  bool keep_host = true;
  bool insecure = false;
  std::string authorities;  // a file
};

void add_proxy_options(command& app, proxy_settings& settings);

}  // namespace programs
