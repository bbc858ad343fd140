// programs/encryption/encryption.hpp: HTTPS for servers: certificates, and their renewal while it runs.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/net/secure_session.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace programs {

class command;

struct encryption_settings {
  std::vector<std::string> chains;  // files, in the order of their keys
  std::vector<std::string> keys;
  std::vector<std::string> ocsp_responses;
  std::string automatic;  // "auto" for a certificate made at the start
  std::string min_version = "1.2";
  std::string redirect;  // HOST:PORT that leads clients of HTTP here; empty for none

  [[nodiscard]] bool wanted() const noexcept { return !chains.empty() || !automatic.empty(); }
};

/// Adds the flags, each with its GYRE_ variable of the environment.
void add_encryption_options(command& app, encryption_settings& settings);

/// Returns what is wrong with the combination of flags, or "".
[[nodiscard]] std::string check(const encryption_settings& settings);

class encryption {
 public:
  virtual ~encryption() = default;
  [[nodiscard]] virtual gyre::security sessions() const = 0;
  /// For people: name and value.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> describe() const = 0;
  /// Loads the files again at SIGHUP and when one of them changes, and says so on standard error. Connections keep the
  /// certificate with which they began. Files that cannot be used change nothing, and a certificate that has expired
  /// does not replace one that is valid. From the call on, SIGHUP does not end the program any more.
  /// Cancel: ends it at once, even if a file does not answer.
  [[nodiscard]] virtual gyre::task<> keep_fresh() = 0;
};

/// Lifetime: `settings` must outlive it. Errors: tls_error, for files that cannot be used.
[[nodiscard]] std::unique_ptr<encryption> make_encryption(const encryption_settings& settings);

}  // namespace programs
