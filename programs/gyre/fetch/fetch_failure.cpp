// programs/gyre/fetch/fetch_failure.cpp: exit codes.
#include "programs/gyre/fetch/fetch_failure.hpp"

#include <gyre/client/client_error.hpp>
#include <gyre/http/status.hpp>
#include <gyre/tls/tls_error.hpp>

#include <fmt/format.h>

#include <string_view>
#include <system_error>

namespace programs {

namespace http = gyre::http;

status_failure::status_failure(int status)
    : std::runtime_error(fmt::format("the server answered {} {}", status, http::reason_phrase(status))) {}

range_failure::range_failure(int status)
    : std::runtime_error(fmt::format("the server answered {} {} when it was asked for the rest of the file", status,
                                     http::reason_phrase(status))) {}

namespace {

int exit_code_of(http::client_errc reason) noexcept {
  switch (reason) {
    case http::client_errc::no_response:
      return 52;
    case http::client_errc::cut_off:
      return 18;
    case http::client_errc::bad_response:
    case http::client_errc::too_many_interim:
    case http::client_errc::unexpected_switch:
    case http::client_errc::bad_redirect:
      return 8;
    case http::client_errc::too_many_redirects:
      return 47;
    case http::client_errc::bad_coding:
    case http::client_errc::decompression_limit:
      return 61;
    default:
      return 1;
  }
}

}  // namespace

int exit_code_of(const std::exception& failure) noexcept {
  if (dynamic_cast<const status_failure*>(&failure) != nullptr) return 22;
  if (dynamic_cast<const length_failure*>(&failure) != nullptr) return 18;
  if (dynamic_cast<const range_failure*>(&failure) != nullptr) return 33;
  if (dynamic_cast<const output_failure*>(&failure) != nullptr) return 23;
  if (dynamic_cast<const gyre::timed_out*>(&failure) != nullptr) return 28;
  const auto* const io = dynamic_cast<const std::system_error*>(&failure);
  if (io == nullptr) return 1;
  const std::error_code code = io->code();
  if (code.category() == http::client_category()) return exit_code_of(static_cast<http::client_errc>(code.value()));
  if (code == gyre::tls::tls_errc::certificate_rejected) return 60;
  if (code == gyre::tls::tls_errc::truncated) return 18;
  if (code.category() == gyre::tls::tls_category()) return 35;
  if (std::string_view(code.category().name()) == "getaddrinfo") return 6;
  if (code == std::errc::connection_refused || code == std::errc::host_unreachable ||
      code == std::errc::network_unreachable)
    return 7;
  return 56;
}

bool may_pass(const std::exception& failure) noexcept {
  switch (exit_code_of(failure)) {
    case 6:
    case 7:
    case 18:
    case 28:
    case 52:
    case 56:
      return true;
    default:
      return false;
  }
}

}  // namespace programs
