// programs/encryption/encryption.cpp: the flags, the certificates, and their renewal.
#include "programs/encryption/encryption.hpp"

#include "programs/common/abandonable_call.hpp"
#include "programs/common/command_line.hpp"
#include "programs/common/process_signals.hpp"
#include "programs/encryption/file_changes.hpp"

#include <gyre/io/file_bytes.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/net/address.hpp>
#include <gyre/runtime/signal_set.hpp>
#include <gyre/tasks/race.hpp>
#include <gyre/tasks/to_thread.hpp>
#include <gyre/tls.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace programs {
namespace {

namespace tls = gyre::tls;

std::string content_of(const std::string& file) {
  constexpr std::size_t max_size = 1'000'000;
  std::string content;
  if (const int error = gyre::io::read_small_file(file, max_size, content); error != 0)
    throw tls::tls_error(tls::tls_errc::bad_configuration, "--tls-ocsp", file,
                         std::error_code(-error, std::generic_category()).message());
  return content;
}

// The errors of a configuration name no files.
template <class F>
auto naming_files(const std::string& chain, const std::string& key, F use) {
  try {
    return use();
  } catch (const tls::tls_error& failure) {
    throw std::runtime_error(fmt::format("--tls-cert {} --tls-key {}: {}", chain, key, failure.what()));
  }
}

// Only reads: OpenSSL must not be in use on a thread that is left behind when the program ends.
std::vector<tls::certificate> read(const encryption_settings& settings) {
  std::vector<tls::certificate> all;
  for (std::size_t i = 0; i < settings.chains.size(); ++i) {
    const std::string& chain = settings.chains[i];
    const std::string& key = settings.keys[i];
    all.push_back(naming_files(chain, key, [&] { return tls::certificate::from_files(chain, key); }));
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

std::string text_of(std::chrono::sys_seconds time) {
  return fmt::format("{:%F %T} UTC", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

// Why clients refuse this certificate now; "" when they do not.
std::string doubt_about(const tls::certificate& own) {
  const auto now = std::chrono::system_clock::now();
  if (const auto until = own.valid_until(); now > until) return "the certificate expired at " + text_of(until);
  if (const auto from = own.valid_from(); now < from) return "the certificate is not valid before " + text_of(from);
  return {};
}

class encryption_with_tls final : public encryption {
 public:
  explicit encryption_with_tls(const encryption_settings& settings)
      : settings_(settings), files_(files_of(settings)), sessions_(first_config()) {}

  [[nodiscard]] gyre::security sessions() const override { return sessions_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> describe() const override {
    return {{"tls", fmt::format("{} or newer, {}", settings_.min_version,
                                settings_.automatic.empty() ? "files are loaded again when they change, and at SIGHUP"
                                                            : "a certificate that nobody trusts, for development")},
            {"fingerprint", "SHA-256 " + fingerprints(served_)}};
  }

  GYRE_CORO_WRAPPER gyre::task<> keep_fresh() override {
    auto hang_up = std::make_unique<gyre::signal_set>(of_interest);
    release_hang_up();
    return renew_again_and_again(std::move(hang_up));
  }

 private:
  static constexpr std::initializer_list<int> of_interest = {SIGHUP};

  struct contents {
    std::string state;
    std::vector<tls::certificate> certificates;
    std::exception_ptr failure;  // of reading them
  };
  static contents read_all(const encryption_settings& settings, const std::vector<std::string>& files) {
    contents found;
    found.state = file_changes::state_of(files);
    try {
      found.certificates = read(settings);
    } catch (...) {
      found.failure = std::current_exception();
    }
    return found;
  }

  gyre::task<> renew_again_and_again(std::unique_ptr<gyre::signal_set> hang_up) {
    for (;;) {
      auto told = [&]() -> gyre::task<bool> {
        (void)co_await hang_up->next();
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

  tls::server_config first_config() {
    served_ = settings_.automatic.empty()
                  ? read(settings_)
                  : std::vector{tls::certificate::self_signed({"localhost", "127.0.0.1", "::1"})};
    check_files(served_);
    for (std::size_t i = 0; i < served_.size(); ++i)
      if (const std::string wrong = doubt_about(served_[i]); !wrong.empty())
        gyre::print_diagnostic({"warning: --tls-cert ", settings_.chains[i], ": ", wrong, ": clients refuse it"});
    return config_of(served_);
  }
  // Each is used alone, so that the error can name its files.
  void check_files(const std::vector<tls::certificate>& all) const {
    for (std::size_t i = 0; i < settings_.chains.size(); ++i)
      naming_files(settings_.chains[i], settings_.keys[i],
                   [&] { return tls::server_config(tls::server_options{.certificates = {all[i]}}); });
  }
  [[nodiscard]] tls::server_config config_of(const std::vector<tls::certificate>& certificates) const {
    tls::server_options options;
    options.certificates = certificates;
    options.protocols = {"http/1.1"};
    options.min_version = settings_.min_version == "1.3" ? tls::version::tls_1_3 : tls::version::tls_1_2;
    options.tickets = tickets_;
    return tls::server_config(options);
  }
  // A certificate that clients refuse does not replace one that they accept: somebody has installed the wrong file.
  void keep_valid_ones(std::vector<tls::certificate>& all) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string wrong = doubt_about(all[i]);
      if (wrong.empty()) continue;
      const bool keeps = doubt_about(served_[i]).empty();
      if (keeps) all[i] = served_[i];
      gyre::print_diagnostic(
          {"warning: --tls-cert ", settings_.chains[i], ": ", wrong,
           keeps ? ": the previous one is served, and is valid until " : ": clients refuse it; it is valid until ",
           text_of(all[i].valid_until())});
    }
  }
  gyre::task<> renew() {
    try {
      auto reading =
          call_abandonably([settings = settings_, files = files_of(settings_)] { return read_all(settings, files); });
      contents found = co_await std::move(reading);
      files_.remember(std::move(found.state));  // also of files that cannot be read: they are reported once
      if (found.failure) std::rethrow_exception(found.failure);
      auto build = [this, &found] {
        check_files(found.certificates);
        keep_valid_ones(found.certificates);
        return config_of(found.certificates);
      };
      sessions_.set_config(co_await gyre::to_thread(build));
      served_ = std::move(found.certificates);
      gyre::print_diagnostic({"certificates loaded again: SHA-256 ", fingerprints(served_)});
    } catch (const std::exception& failure) {
      gyre::print_diagnostic({"the certificates stay as they are: ", failure.what()});
    }
  }

  const encryption_settings& settings_;
  tls::ticket_keys tickets_;
  std::vector<tls::certificate> served_;
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
  app.add_option("--tls-min", settings.min_version, "the oldest version of TLS that is accepted: 1.2 or 1.3")
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
