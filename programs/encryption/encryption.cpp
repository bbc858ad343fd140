// programs/encryption/encryption.cpp: the flags, the certificates, and their renewal.
#include "programs/encryption/encryption.hpp"

#include "programs/common/command_line.hpp"
#include "programs/encryption/file_changes.hpp"

#include <gyre/io/printable.hpp>
#include <gyre/net/address.hpp>
#include <gyre/runtime/signal_set.hpp>
#include <gyre/tasks/race.hpp>
#include <gyre/tasks/to_thread.hpp>
#include <gyre/tls.hpp>

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace programs {
namespace {

namespace tls = gyre::tls;

std::string content_of(const std::string& file) {
  std::ifstream input(file, std::ios::binary);
  if (!input) throw tls::tls_error(tls::tls_errc::bad_configuration, "--tls-ocsp", file, "the file cannot be read");
  return {std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
}

// The errors of a configuration name no files.
tls::certificate usable(const std::string& chain, const std::string& key) {
  try {
    auto read = tls::certificate::from_files(chain, key);
    const tls::server_options alone{.certificates = {read}};
    (void)tls::server_config(alone);
    return read;
  } catch (const tls::tls_error& failure) {
    throw std::runtime_error(fmt::format("--tls-cert {} --tls-key {}: {}", chain, key, failure.what()));
  }
}

std::vector<tls::certificate> load(const encryption_settings& settings) {
  std::vector<tls::certificate> all;
  if (!settings.automatic.empty()) all.push_back(tls::certificate::self_signed({"localhost", "127.0.0.1", "::1"}));
  for (std::size_t i = 0; i < settings.chains.size(); ++i) {
    all.push_back(usable(settings.chains[i], settings.keys[i]));
    if (i < settings.ocsp_responses.size()) all.back().ocsp_response = content_of(settings.ocsp_responses[i]);
  }
  return all;
}

std::vector<std::string> files_of(const encryption_settings& settings) {
  std::vector<std::string> all;
  for (const auto* const files : {&settings.chains, &settings.keys, &settings.ocsp_responses})
    all.insert(all.end(), files->begin(), files->end());
  return all;
}

std::string fingerprints(const std::vector<tls::certificate>& all) {
  std::string text;
  for (const tls::certificate& each : all) text += (text.empty() ? "" : ", ") + each.fingerprint();
  return text;
}

class encryption_with_tls final : public encryption {
 public:
  explicit encryption_with_tls(const encryption_settings& settings)
      : settings_(settings), files_(files_of(settings)), sessions_(first_config()) {}

  [[nodiscard]] gyre::security sessions() const override { return sessions_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> describe() const override {
    return {{"tls", fmt::format("{} or newer, {}", settings_.least,
                                settings_.automatic.empty() ? "files are loaded again when they change, and at SIGHUP"
                                                            : "a certificate that nobody trusts, for development")},
            {"fingerprint", "SHA-256 " + fingerprints_}};
  }

  gyre::task<> keep_fresh() override {
    gyre::signal_set hang_up{SIGHUP};
    for (;;) {
      auto told = [&]() -> gyre::task<bool> {
        (void)co_await hang_up.next();
        co_return true;
      };
      auto changed = [this]() -> gyre::task<bool> {
        co_await files_.wait();
        co_return false;
      };
      auto either = gyre::race(told(), changed());
      (void)co_await std::move(either);
      if (settings_.automatic.empty()) co_await renew();
    }
  }

 private:
  struct fresh {
    tls::server_config config;
    std::string fingerprints;
  };

  tls::server_config first_config() {
    const auto certificates = load(settings_);
    fingerprints_ = fingerprints(certificates);
    return config_of(certificates);
  }
  tls::server_config config_of(const std::vector<tls::certificate>& certificates) const {
    tls::server_options options;
    options.certificates = certificates;
    options.protocols = {"http/1.1"};
    options.least = settings_.least == "1.3" ? tls::version::tls_1_3 : tls::version::tls_1_2;
    options.tickets = tickets_;
    return tls::server_config(options);
  }
  gyre::task<> renew() {
    try {
      auto build = [this]() -> fresh {
        files_.remember();
        const auto certificates = load(settings_);
        return {config_of(certificates), fingerprints(certificates)};
      };
      fresh made = co_await gyre::to_thread(build);
      sessions_.set_config(std::move(made.config));
      gyre::print_diagnostic({"certificates loaded again: SHA-256 ", made.fingerprints});
    } catch (const std::exception& failure) {
      gyre::print_diagnostic({"the certificates stay as they are: ", failure.what()});
    }
  }

  const encryption_settings& settings_;
  tls::ticket_keys tickets_;
  std::string fingerprints_;
  file_changes files_;
  tls::server_sessions sessions_;
};

std::string check_address(const std::string& text) {
  if (gyre::address::parse(text)) return {};
  return fmt::format("expected HOST:PORT with a numeric host, got \"{}\"", text);
}

}  // namespace

void add_encryption_options(command& app, encryption_settings& settings) {
  const auto files = [&app](const char* flag, std::vector<std::string>& all, const char* what, const char* variable) {
    app.add_option(flag, all, what)
        .one_value_each()  // the next argument may be DIR
        .separated_by(',')
        .existing_file()
        .environment(variable)
        .group("TLS");
  };
  files("--tls-cert", settings.chains,
        "a file with a certificate and those of its authorities (PEM), which makes this an HTTPS server; several, for "
        "several host names: repeated, or with commas",
        "GYRE_TLS_CERT");
  files("--tls-key", settings.keys, "the file with the private key; one for each --tls-cert", "GYRE_TLS_KEY");
  files("--tls-ocsp", settings.ocsp_responses,
        "a file with an OCSP response (DER) to send with the certificate at the same place", "GYRE_TLS_OCSP");
  app.add_option("--tls", settings.automatic, "auto: a certificate that is made at the start, for development")
      .one_of({"auto"})
      .environment("GYRE_TLS")
      .group("TLS");
  app.add_option("--tls-min", settings.least, "the oldest version of TLS that is accepted: 1.2 or 1.3")
      .one_of({"1.2", "1.3"})
      .environment("GYRE_TLS_MIN")
      .show_default()
      .group("TLS");
  app.add_option("--redirect-http", settings.redirect,
                 "HOST:PORT where clients that speak HTTP are sent to the HTTPS server (default: not served)")
      .check(check_address)
      .environment("GYRE_REDIRECT_HTTP")
      .group("TLS");
}

std::string check(const encryption_settings& settings) {
  if (settings.chains.size() != settings.keys.size())
    return fmt::format("--tls-cert was given {} times and --tls-key {} times: give a key for each certificate",
                       settings.chains.size(), settings.keys.size());
  if (settings.ocsp_responses.size() > settings.chains.size()) return "--tls-ocsp belongs to a --tls-cert";
  if (!settings.automatic.empty() && !settings.chains.empty()) return "give --tls auto or --tls-cert, not both";
  if (!settings.redirect.empty() && !settings.wanted())
    return "--redirect-http leads to an HTTPS server: give --tls-cert and --tls-key, or --tls auto";
  return {};
}

std::unique_ptr<encryption> make_encryption(const encryption_settings& settings) {
  if (!settings.wanted()) return nullptr;
  return std::make_unique<encryption_with_tls>(settings);
}

}  // namespace programs
