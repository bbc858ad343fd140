// programs/gyre/load/plan.hpp: what every connection of a load does.
#pragma once

#include "programs/gyre/load/settings.hpp"

#include <gyre/client/url.hpp>
#include <gyre/net/address.hpp>
#include <gyre/tls/client_config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace programs {

/// Unchanged while the load runs, and used by all loops.
struct load_plan {
  /// Reads the body, if it is a file, and the authorities. Errors: std::runtime_error with the name of the file;
  /// tls_error for authorities that cannot be used.
  explicit load_plan(const load_settings& settings);

  gyre::http::url url;
  std::string method;
  std::string request;  // as it is sent
  std::size_t connections;
  std::size_t loops;
  std::uint64_t requests;
  double rate;
  std::chrono::nanoseconds duration;
  std::chrono::nanoseconds limit;  // of a connection, and of a response
  bool keep_alive;
  std::optional<gyre::tls::client_config> encryption;
  gyre::address server;
};

}  // namespace programs
